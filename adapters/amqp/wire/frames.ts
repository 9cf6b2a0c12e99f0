/**
 * The frames of AMQP 0-9-1: types, and the class and method numbers used here, each pair in one number.
 *
 * @module
 */

/** The last byte of every frame. */
export const FRAME_END = 0xce;

/** Type, channel and size: what stands before the payload. */
export const FRAME_HEAD = 7;

/** Head and end: what every frame adds to its payload. */
export const FRAME_OVERHEAD = 8;

export const FRAME_METHOD = 1;
export const FRAME_HEADER = 2;
export const FRAME_BODY = 3;
export const FRAME_HEARTBEAT = 8;

export const CONNECTION_START = 0x000a_000a;
export const CONNECTION_START_OK = 0x000a_000b;
export const CONNECTION_SECURE = 0x000a_0014;
export const CONNECTION_TUNE = 0x000a_001e;
export const CONNECTION_TUNE_OK = 0x000a_001f;
export const CONNECTION_OPEN = 0x000a_0028;
export const CONNECTION_CLOSE = 0x000a_0032;
export const CHANNEL_CLOSE = 0x0014_0028;
export const CHANNEL_CLOSE_OK = 0x0014_0029;
export const BASIC_CANCEL = 0x003c_001e;
export const BASIC_CANCEL_OK = 0x003c_001f;
export const BASIC_PUBLISH = 0x003c_0028;
export const BASIC_RETURN = 0x003c_0032;
export const BASIC_DELIVER = 0x003c_003c;
export const BASIC_GET_OK = 0x003c_0047;
export const BASIC_ACK = 0x003c_0050;
export const BASIC_NACK = 0x003c_0078;
