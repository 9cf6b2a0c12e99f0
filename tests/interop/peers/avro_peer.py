"""Reads Avro bodies with Apache's library for Python and writes them again.

One request a line: {"writer": schema, "reader": schema, "hex": body}. One answer a line: {"hex": body in the reader's schema},
or {"error": the kind of error}.
"""
import io
import json
import sys

import avro.io
import avro.schema


def again(request):
    writer = avro.schema.parse(request["writer"])
    reader = avro.schema.parse(request["reader"])
    source = io.BytesIO(bytes.fromhex(request["hex"]))
    datum = avro.io.DatumReader(writer, reader).read(avro.io.BinaryDecoder(source))
    if source.read():
        raise ValueError("bytes are left over")
    target = io.BytesIO()
    avro.io.DatumWriter(reader).write(datum, avro.io.BinaryEncoder(target))
    return target.getvalue().hex()


for line in sys.stdin:
    try:
        answer = {"hex": again(json.loads(line))}
    except Exception as error:  # whatever it is, it is the answer
        answer = {"error": type(error).__name__}
    print(json.dumps(answer))
