/**
 * Certificates for one test run: two authorities, one of them for development only, and a server certificate of each.
 *
 * @module
 */
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A certificate and its key, as PEM. */
export interface KeyPair {
  readonly certificate: string;
  readonly key: string;
}

/** What a test of TLS works with. */
export interface Certificates {
  readonly ca: string;
  /** For `localhost` and 127.0.0.1, signed by {@linkcode Certificates.ca}. */
  readonly server: KeyPair;
  /** An authority whose name says that it is for development only. */
  readonly developmentCa: string;
  /** As {@linkcode Certificates.server}, signed by {@linkcode Certificates.developmentCa}: only its issuer says so. */
  readonly developmentServer: KeyPair;
}

/** What all AceMQ development generators write into the name. */
const MARKER = "ACEMQ DEVELOPMENT ONLY - DO NOT TRUST";

/** Makes them; `undefined` where there is no OpenSSL to do it. */
export function makeCertificates(): Certificates | undefined {
  const folder = mkdtempSync(join(tmpdir(), "acemq-certificates-"));
  try {
    const path = (name: string): string => join(folder, name);
    const openssl = (...args: readonly string[]): void => void execFileSync("openssl", args, { stdio: "pipe" });
    const text = (name: string): string => readFileSync(path(name), "utf8");
    writeFileSync(path("names"), "subjectAltName=DNS:localhost,IP:127.0.0.1\nextendedKeyUsage=serverAuth\n");
    const authority = (name: string, subject: string): void => {
      newKey(openssl, path(`${name}.key`));
      const self = ["req", "-x509", "-new", "-key", path(`${name}.key`), "-days", "2", "-subj", `/CN=${subject}`];
      openssl(...self, "-addext", "basicConstraints=critical,CA:TRUE", "-out", path(`${name}.pem`));
    };
    const signed = (name: string, ca: string): KeyPair => {
      newKey(openssl, path(`${name}.key`));
      openssl("req", "-new", "-key", path(`${name}.key`), "-subj", "/CN=localhost", "-out", path(`${name}.csr`));
      const by = ["-CA", path(`${ca}.pem`), "-CAkey", path(`${ca}.key`), "-CAcreateserial", "-extfile", path("names")];
      openssl("x509", "-req", "-in", path(`${name}.csr`), ...by, "-days", "2", "-out", path(`${name}.pem`));
      return { certificate: text(`${name}.pem`), key: text(`${name}.key`) };
    };
    authority("ca", "acemq test ca");
    authority("development", MARKER);
    const [server, developmentServer] = [signed("server", "ca"), signed("mine", "development")];
    return { ca: text("ca.pem"), server, developmentCa: text("development.pem"), developmentServer };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function newKey(openssl: (...args: readonly string[]) => void, path: string): void {
  openssl("genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out", path);
}
