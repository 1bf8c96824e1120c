package lunar.iscsi.text;

import java.lang.foreign.MemorySegment;

/**
 * Fields of a Text Request or Text Response that negotiation needs (RFC 7143 sections 11.10 and 11.11). The caller
 * handles tags: a response that is not final has a Target Transfer Tag, which the next request returns.
 *
 * @param isFinal the F bit
 * @param more the C bit: the text continues in the next PDU of this direction
 * @param text the data segment; valid only during the call that receives it
 */
public record TextTurn(boolean isFinal, boolean more, MemorySegment text) {}
