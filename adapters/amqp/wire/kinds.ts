/**
 * The bytes that name the kinds of a field value: the AMQP 0-9-1 ones as RabbitMQ and every client of it use them.
 *
 * @module
 */

/** `t` */
export const BOOLEAN = 0x74;
/** `b` */
export const INT8 = 0x62;
/** `B` */
export const UINT8 = 0x42;
/** `s` */
export const INT16 = 0x73;
/** `u` */
export const UINT16 = 0x75;
/** `I` */
export const INT32 = 0x49;
/** `i` */
export const UINT32 = 0x69;
/** `l` */
export const INT64 = 0x6c;
/** `L`: sent by some clients, rewritten as `l` by RabbitMQ 4. */
export const UINT64 = 0x4c;
/** `f` */
export const FLOAT32 = 0x66;
/** `d` */
export const FLOAT64 = 0x64;
/** `D` */
export const DECIMAL = 0x44;
/** `S` */
export const LONG_TEXT = 0x53;
/** `A` */
export const ARRAY = 0x41;
/** `T` */
export const TIMESTAMP = 0x54;
/** `F` */
export const TABLE = 0x46;
/** `V` */
export const VOID = 0x56;
/** `x` */
export const BYTES = 0x78;
