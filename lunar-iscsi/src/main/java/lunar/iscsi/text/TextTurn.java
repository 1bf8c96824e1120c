package lunar.iscsi.text;

import java.lang.foreign.MemorySegment;

/**
 * Part of a Text Request or Text Response that negotiation needs (RFC 7143 sections 11.10 and 11.11). Tags are the
 * shell's: a response that is not final carries a Target Transfer Tag, which the next request brings back.
 *
 * @param isFinal the F bit
 * @param more the C bit: the text goes on in the next PDU of this direction
 * @param text the data segment; read during the call it is given to, and not kept
 */
public record TextTurn(boolean isFinal, boolean more, MemorySegment text) {}
