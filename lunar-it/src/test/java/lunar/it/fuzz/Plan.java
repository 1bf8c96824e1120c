package lunar.it.fuzz;

import java.util.List;
import java.util.Optional;

/**
 * What one connection sends, all of it decided beforehand but for an answer to CHAP.
 *
 * @param number decides, with the seed, everything else
 * @param bytes what is sent, in the pieces in which it is written
 * @param streams mutated or plain streams in it; where there are several, a ping after each shows that it was survived
 * @param clean nothing is mutated: every ping must be answered
 * @param ending how the connection is left
 * @param chap what to answer to a challenge, for the rest of the bytes
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
        /** Does not read for a while, then goes on as half-close. */
        SLOW
    }

    /** What kind of peer answers a CHAP challenge; {@code salt} decides what is wrong with it. */
    record ChapTurn(long salt, byte[] requestHeader, boolean mutated, boolean mutual,
            List<byte[]> rest) {}
}
