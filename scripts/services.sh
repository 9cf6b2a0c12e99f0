#!/usr/bin/env bash
# Starts the services the tests use, and prints where they are as `export` lines.
#
#   scripts/services.sh                 RabbitMQ 3.10 and PostgreSQL
#   scripts/services.sh fault-node      a RabbitMQ node of its own, with TLS, for tests that stop, block or restart one
#   scripts/services.sh fault-node stop | kill
#   scripts/services.sh rabbitmq4       RabbitMQ 4.0 from Debian 13, in a folder; stop ends it
#   scripts/services.sh pgbouncer       a pooler in transaction mode in front of PostgreSQL; stop ends it
#   scripts/services.sh python-avro     Apache's Avro library for Python, which is no service but a peer of the tests
#   scripts/services.sh all             all of them; without RabbitMQ 4 it says why and goes on
#
# What already answers is used as it is. What is missing is installed from Debian packages and started, which takes
# root. Running it twice is the same as running it once. Everything it creates is under ACEMQ_SERVICES_DIR.
set -euo pipefail
export DEBIAN_FRONTEND=noninteractive

readonly SERVICES_DIR=${ACEMQ_SERVICES_DIR:-/var/cache/acemq}
readonly FAULT_DIR=$SERVICES_DIR/fault TLS_DIR=$SERVICES_DIR/tls CHROOT=$SERVICES_DIR/rabbitmq4
readonly FAULT_NODE=acemqfault@localhost NODE_4=rabbit4@localhost
readonly BOUNCER_DIR=$SERVICES_DIR/pgbouncer
readonly AMQP_PORT=5672 FAULT_PORT=5673 TLS_PORT=5671 PORT_4=5674 BOUNCER_PORT=6433

say() { printf '%s\n' "$*" >&2; }
die() { say "$*"; exit 1; }
need_root() { [ "$(id -u)" = 0 ] || die "Cannot $1: this takes root"; }

install_packages() {
  local package missing=()
  for package in "$@"; do
    dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'install ok installed' || missing+=("$package")
  done
  ((${#missing[@]})) || return 0
  need_root "install ${missing[*]}"
  command -v apt-get >/dev/null || die "Cannot install ${missing[*]}: this is no Debian"
  say "Installing ${missing[*]}"
  apt-get update -qq >&2
  apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
}

# A broker answers the protocol header with a method frame, whose first byte is 1.
amqp_answers() {
  [ "$(timeout 5 bash -c 'exec 3<>/dev/tcp/127.0.0.1/'"$1"' && printf "AMQP\0\0\x09\x01" >&3 && head -c 1 <&3 | od -An -tu1' \
    2>/dev/null | tr -d ' ')" = 1 ]
}

# `rabbitmqctl await_startup` fails at once while the node is not there yet; the port tells the same without Erlang.
await_amqp() {
  local port=$1 what=$2
  for _ in $(seq 240); do
    amqp_answers "$port" && return 0
    sleep 0.5
  done
  die "Cannot start $what: nothing answers on port $port after two minutes"
}

rabbitmq() {
  if ! amqp_answers $AMQP_PORT; then
    local is_ours=0
    [ -e /etc/rabbitmq ] || is_ours=1
    install_packages rabbitmq-server
    need_root "start RabbitMQ"
    ((is_ours)) && keep_to_loopback
    say "Starting RabbitMQ"
    rabbitmqctl -q status >/dev/null 2>&1 || rabbitmq-server -detached >&2 || die "Cannot start RabbitMQ: see above"
    await_amqp $AMQP_PORT RabbitMQ
  fi
  echo "export ACEMQ_AMQP_URL=amqp://guest:guest@127.0.0.1:$AMQP_PORT"
}

# The package listens on every interface and names the node after the host, which need not resolve.
keep_to_loopback() {
  echo "listeners.tcp.local = 127.0.0.1:$AMQP_PORT" >/etc/rabbitmq/rabbitmq.conf
  printf '%s\n' 'NODENAME=rabbit@localhost' 'ERL_EPMD_ADDRESS=127.0.0.1' \
    'export ERL_FLAGS="-kernel inet_dist_use_interface {127,0,0,1}"' >/etc/rabbitmq/rabbitmq-env.conf
}

postgresql() {
  local url=${ACEMQ_POSTGRES_URL:-postgres://acemq:acemq@127.0.0.1:5432/acemq}
  if ! { command -v psql >/dev/null && psql "$url" -qtc 'select 1' >/dev/null 2>&1; }; then
    install_packages postgresql
    need_root "start PostgreSQL"
    start_cluster
    create_database
    psql "$url" -qtc 'select 1' >/dev/null || die "Cannot use PostgreSQL: $url does not answer"
  fi
  echo "export ACEMQ_POSTGRES_URL=$url"
}

start_cluster() {
  pg_isready -q -h 127.0.0.1 && return
  local version
  version=$(pg_lsclusters -h | awk 'NR == 1 { print $1 }')
  [ -n "$version" ] || die "Cannot start PostgreSQL: the package made no cluster"
  say "Starting PostgreSQL"
  pg_ctlcluster --skip-systemctl-redirect "$version" main start
  for _ in $(seq 60); do
    pg_isready -q -h 127.0.0.1 && return
    sleep 0.25
  done
  die "Cannot start PostgreSQL: it is not ready after 15 seconds"
}

create_database() {
  runuser -u postgres -- psql -qv ON_ERROR_STOP=1 <<'SQL'
DO $$ BEGIN
  IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'acemq') THEN CREATE ROLE acemq LOGIN PASSWORD 'acemq'; END IF;
END $$;
SELECT 'CREATE DATABASE acemq OWNER acemq' WHERE NOT EXISTS (SELECT FROM pg_database WHERE datname = 'acemq')\gexec
SQL
}

pgbouncer() {
  local url=postgres://acemq:acemq@127.0.0.1:$BOUNCER_PORT/acemq
  case ${1:-start} in
    start) psql "$url" -qtc 'select 1' >/dev/null 2>&1 || pgbouncer_start "$url" ;;
    stop) kill -INT "$(cat "$BOUNCER_DIR/pid")"; return ;;
    *) die "Cannot $1 PgBouncer: start and stop are known" ;;
  esac
  echo "export ACEMQ_PGBOUNCER_URL=$url"
}

# Fewer connections to the database than a test has to the pooler, so that every transaction may get another one.
pgbouncer_start() {
  install_packages pgbouncer
  need_root "start PgBouncer"
  mkdir -p "$BOUNCER_DIR"
  echo '"acemq" "acemq"' >"$BOUNCER_DIR/users"
  cat >"$BOUNCER_DIR/pgbouncer.ini" <<CONF
[databases]
* = host=127.0.0.1 port=5432
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = $BOUNCER_PORT
unix_socket_dir =
auth_type = plain
auth_file = $BOUNCER_DIR/users
pool_mode = transaction
default_pool_size = 3
max_client_conn = 200
logfile = $BOUNCER_DIR/log
pidfile = $BOUNCER_DIR/pid
CONF
  chown -R postgres "$BOUNCER_DIR"
  say "Starting PgBouncer"
  runuser -u postgres -- /usr/sbin/pgbouncer -q -d "$BOUNCER_DIR/pgbouncer.ini" >&2
  for _ in $(seq 40); do
    psql "$1" -qtc 'select 1' >/dev/null 2>&1 && return
    sleep 0.25
  done
  die "Cannot use PgBouncer: $1 does not answer, see $BOUNCER_DIR/log"
}

# Nothing runs: the tests start it and ask it.
python_avro() { install_packages python3-avro; }

# A CA with a server and a client certificate, and a CA of a stranger. Test keys: they open nothing else.
certificates() {
  openssl x509 -checkend 86400 -noout -in "$TLS_DIR/client.pem" >/dev/null 2>&1 && return
  say "Making certificates"
  rm -rf "$TLS_DIR"
  mkdir -p "$TLS_DIR"
  local name
  for name in ca stranger_ca; do
    new_key "$name"
    openssl req -x509 -new -key "$TLS_DIR/$name.key" -days 3650 -subj "/CN=acemq test $name" \
      -addext basicConstraints=critical,CA:TRUE -addext keyUsage=critical,keyCertSign -out "$TLS_DIR/$name.pem"
  done
  certificate server localhost "subjectAltName=DNS:localhost,IP:127.0.0.1" serverAuth
  certificate client acemq-client "subjectAltName=DNS:acemq-client" clientAuth
  chmod 644 "$TLS_DIR"/*
}

new_key() { openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out "$TLS_DIR/$1.key" 2>/dev/null; }

certificate() {
  local name=$1 common_name=$2 alternative=$3 usage=$4
  new_key "$name"
  openssl req -new -key "$TLS_DIR/$name.key" -subj "/CN=$common_name" |
    openssl x509 -req -CA "$TLS_DIR/ca.pem" -CAkey "$TLS_DIR/ca.key" -CAcreateserial -days 3650 \
      -extfile <(printf '%s\nextendedKeyUsage=%s\n' "$alternative" "$usage") -out "$TLS_DIR/$name.pem" 2>/dev/null
}

fault_ctl() { rabbitmqctl -q -n $FAULT_NODE "$@"; }

fault_node() {
  case ${1:-start} in
    start) fault_start ;;
    stop) fault_ctl stop >&2 ;;
    kill) kill -KILL "$(cat "$FAULT_DIR/pid")" ;;
    *) die "Cannot $1 the fault node: start, stop and kill are known" ;;
  esac
}

fault_start() {
  if ! amqp_answers $FAULT_PORT; then
    install_packages rabbitmq-server openssl
    need_root "start the fault node"
    certificates
    fault_configuration
    say "Starting the fault node"
    RABBITMQ_CONF_ENV_FILE=$FAULT_DIR/env.conf rabbitmq-server -detached >&2
    await_amqp $FAULT_PORT "the fault node"
    fault_ctl await_startup --timeout 60 >/dev/null
    fault_ctl add_user acemq-client '' >/dev/null 2>&1 || true
    fault_ctl set_permissions -p / acemq-client '.*' '.*' '.*' >/dev/null
  fi
  printf 'export %s\n' "ACEMQ_FAULT_AMQP_URL=amqp://guest:guest@127.0.0.1:$FAULT_PORT" \
    "ACEMQ_FAULT_NODE=$FAULT_NODE" "ACEMQ_TLS_URL=amqps://guest:guest@localhost:$TLS_PORT" "ACEMQ_TLS_DIR=$TLS_DIR"
}

# Its own name, ports and folders, so that nothing of it meets the broker everybody uses. A client certificate is
# asked for but not required, and with SASL EXTERNAL its common name is the user.
fault_configuration() {
  mkdir -p "$FAULT_DIR"
  echo '[rabbitmq_auth_mechanism_ssl].' >"$FAULT_DIR/enabled_plugins"
  cat >"$FAULT_DIR/rabbitmq.conf" <<CONF
listeners.tcp.local = 127.0.0.1:$FAULT_PORT
listeners.ssl.local = 127.0.0.1:$TLS_PORT
ssl_options.cacertfile = $TLS_DIR/ca.pem
ssl_options.certfile = $TLS_DIR/server.pem
ssl_options.keyfile = $TLS_DIR/server.key
ssl_options.verify = verify_peer
ssl_options.fail_if_no_peer_cert = false
ssl_cert_login_from = common_name
auth_mechanisms.1 = PLAIN
auth_mechanisms.2 = AMQPLAIN
auth_mechanisms.3 = EXTERNAL
CONF
  cat >"$FAULT_DIR/env.conf" <<CONF
NODENAME=$FAULT_NODE
NODE_IP_ADDRESS=127.0.0.1
NODE_PORT=$FAULT_PORT
DIST_PORT=2$FAULT_PORT
CONFIG_FILE=$FAULT_DIR/rabbitmq
MNESIA_BASE=$FAULT_DIR/mnesia
LOG_BASE=$FAULT_DIR/log
PID_FILE=$FAULT_DIR/pid
ENABLED_PLUGINS_FILE=$FAULT_DIR/enabled_plugins
ERL_EPMD_ADDRESS=127.0.0.1
export ERL_FLAGS="-kernel inet_dist_use_interface {127,0,0,1}"
CONF
  chown -R rabbitmq:rabbitmq "$FAULT_DIR"
}

# RabbitMQ 4 in the root file system of Debian 13. It needs /proc, mounted where nobody else sees it.
in_chroot() {
  unshare --mount --propagation private bash -c \
    'mount -t proc proc "$0/proc" && exec chroot "$0" "$@"' "$CHROOT" "$@"
}

rabbitmq4() {
  case ${1:-start} in
    start) amqp_answers $PORT_4 || rabbitmq4_start ;;
    stop) in_chroot rabbitmqctl -q stop >&2; return ;;
    *) die "Cannot $1 RabbitMQ 4: start and stop are known" ;;
  esac
  echo "export ACEMQ_RABBITMQ4_URL=amqp://guest:guest@127.0.0.1:$PORT_4"
}

rabbitmq4_start() {
  need_root "start RabbitMQ 4"
  [ -e "$CHROOT/installed" ] || rabbitmq4_install
  say "Starting RabbitMQ 4"
  in_chroot rabbitmq-server -detached >&2
  await_amqp $PORT_4 "RabbitMQ 4"
}

rabbitmq4_install() {
  install_packages debootstrap
  local mirror
  mirror=$(apt-get indextargets --format '$(SITE)' 'Created-By: Packages' 'Origin: Debian' | head -n 1)
  say "Installing Debian 13 with RabbitMQ 4 in $CHROOT (a minute, 455 MB)"
  rm -rf "$CHROOT"
  mkdir -p "$CHROOT"
  debootstrap --variant=minbase trixie "$CHROOT" "${mirror:-http://deb.debian.org/debian}" >&2
  printf '#!/bin/sh\nexit 101\n' >"$CHROOT/usr/sbin/policy-rc.d"
  chmod 755 "$CHROOT/usr/sbin/policy-rc.d"
  cp /etc/hosts "$CHROOT/etc/hosts"
  in_chroot apt-get install -y -qq --no-install-recommends rabbitmq-server >&2
  printf '%s\n' "NODENAME=$NODE_4" 'NODE_IP_ADDRESS=127.0.0.1' "NODE_PORT=$PORT_4" "DIST_PORT=2$PORT_4" \
    'ERL_EPMD_ADDRESS=127.0.0.1' 'export ERL_FLAGS="-kernel inet_dist_use_interface {127,0,0,1}"' \
    >"$CHROOT/etc/rabbitmq/rabbitmq-env.conf"
  touch "$CHROOT/installed"
}

# The one service that may be missing: it does not come with the distribution the others do.
rabbitmq4_or_why_not() {
  "$0" rabbitmq4 || say "RabbitMQ 4 could not be started for the reason above: its tests are skipped"
}

case ${1:-start} in
  start) rabbitmq; postgresql ;;
  fault-node) fault_node "${2:-start}" ;;
  rabbitmq4) rabbitmq4 "${2:-start}" ;;
  pgbouncer) pgbouncer "${2:-start}" ;;
  python-avro) python_avro ;;
  all) rabbitmq; postgresql; pgbouncer; fault_node; python_avro; rabbitmq4_or_why_not ;;
  *) die "Cannot start '$1': fault-node, rabbitmq4, pgbouncer, python-avro and all are known" ;;
esac
