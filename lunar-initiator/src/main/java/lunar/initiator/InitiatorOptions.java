package lunar.initiator;

import java.util.Optional;
import java.util.regex.Pattern;
import lunar.iscsi.spi.LoopOptions;
import lunar.iscsi.spi.Polling;

/**
 * The name of an initiator and its settings.
 *
 * @param name iSCSI name: {@code iqn.}, {@code eui.} or {@code naa.} (RFC 7143 section 4.2.7)
 * @param alias InitiatorAlias, a human-readable name
 * @param loops event loops (threads) among which sessions are distributed
 * @param listener receives the events of sessions
 * @param metrics receives counts of commands
 */
public record InitiatorOptions(String name, Optional<String> alias, LoopOptions loops,
        SessionListener listener, Optional<InitiatorMetrics> metrics) {
    /** Default name of an initiator. */
    public static final String DEFAULT_NAME = "iqn.2026-11.org.lunar:host";

    private static final int MAX_LOOPS = 256;
    private static final Pattern NAME = Pattern.compile("(iqn|eui|naa)\\.[^\\s\\p{Cntrl}]{1,219}");

    public InitiatorOptions {
        if (!NAME.matcher(name).matches()) {
            throw new IllegalArgumentException("'" + name
                    + "' is not an iSCSI name; write for example iqn.2026-11.org.example:host1");
        }
        if (loops.count() > MAX_LOOPS) {
            throw new IllegalArgumentException(
                    "the number of event loops must be 1 to " + MAX_LOOPS + ", not "
                            + loops.count());
        }
    }

    /** Returns options with one event loop and no alias. */
    public static InitiatorOptions of(String name) {
        return new InitiatorOptions(name, Optional.empty(), LoopOptions.of(1), (_, _) -> {},
                Optional.empty());
    }

    /** Returns these options with an alias. */
    public InitiatorOptions withAlias(String value) {
        return new InitiatorOptions(name, Optional.of(value), loops, listener, metrics);
    }

    /** Returns these options with another number of event loops. */
    public InitiatorOptions withLoopCount(int value) {
        return withLoops(loops.withCount(value));
    }

    /** Returns these options with event loops that poll before they sleep, or do not. */
    public InitiatorOptions withPolling(Polling value) {
        return withLoops(loops.withPolling(value));
    }

    /** Returns these options with the RDMA device of {@code iser} sessions; empty for one that reaches the target. */
    public InitiatorOptions withRdmaDevice(Optional<String> value) {
        return withLoops(loops.withDevice(value));
    }

    private InitiatorOptions withLoops(LoopOptions value) {
        return new InitiatorOptions(name, alias, value, listener, metrics);
    }

    /** Returns these options with a listener. */
    public InitiatorOptions withListener(SessionListener value) {
        return new InitiatorOptions(name, alias, loops, value, metrics);
    }

    /** Returns these options with a counter of commands. */
    public InitiatorOptions withMetrics(InitiatorMetrics value) {
        return new InitiatorOptions(name, alias, loops, listener, Optional.of(value));
    }
}
