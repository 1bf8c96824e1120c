package lunar.it.fuzz;

import java.util.List;
import java.util.Optional;

/**
 * PDUs that one connection sends, all determined beforehand except the response to CHAP.
 *
 * @param number determines, with the seed, everything else
 * @param bytes what is sent, in the pieces in which it is written
 * @param streams number of mutated or plain streams in it; where there are several, a ping after each checks that the
 * connection survived
 * @param clean whether nothing is mutated: every ping must be answered
 * @param ending how the connection ends
 * @param chap how to answer a challenge, for the rest of the bytes
 */
record Plan(long number, List<byte[]> bytes, int streams, boolean clean, Ending ending,
        Optional<ChapTurn> chap) {
    /** How a connection is left by the fuzzer, if the target has not ended it before. */
    enum Ending {
        /** Says that nothing more comes and reads to the end. */
        HALF_CLOSE,
        /** Resets the connection when all is written. */
        RESET,
        /** Waits: the target must not. */
        STALL,
        /** Does not read for a while, then continues as half-close. */
        SLOW
    }

    /** Kind of response to a CHAP challenge; {@code salt} decides the error. */
    record ChapTurn(long salt, byte[] requestHeader, boolean mutated, boolean mutual,
            List<byte[]> rest) {}
}
