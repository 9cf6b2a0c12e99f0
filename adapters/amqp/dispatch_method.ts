/**
 * Methods on a channel that our own decoders read.
 *
 * @module
 */

import type { LinkChannel } from "./link_channel.ts";
import type { ByteReader } from "./wire/byte_reader.ts";
import * as frame from "./wire/frames.ts";
import * as method from "./wire/method_frames.ts";

/** Hands a method to its channel; false when the client has to read it, as the answer to a call. */
export function dispatchMethod(id: number, reader: ByteReader, channel: LinkChannel): boolean {
  switch (id) {
    case frame.BASIC_DELIVER:
      channel.announce(method.readDelivery(reader));
      return true;
    case frame.BASIC_ACK:
      channel.confirmed(method.readConfirm(reader), true);
      return true;
    case frame.BASIC_NACK:
      channel.confirmed(method.readConfirm(reader), false);
      return true;
    case frame.BASIC_RETURN:
      channel.announce(method.readReturn(reader));
      return true;
    case frame.BASIC_GET_OK:
      channel.announce(method.readGetOk(reader));
      return true;
    case frame.BASIC_CANCEL:
      channel.cancelled(method.readCancel(reader));
      return true;
    case frame.CHANNEL_CLOSE:
      // The client reads it as well and answers it; the numbers are kept here.
      channel.closeReason = method.readClose(reader);
      return false;
    case frame.CHANNEL_CLOSE_OK:
      // When two closes have crossed, this answers for a channel whose number is another's by now.
      return !channel.isLeaving;
    default:
      return false;
  }
}
