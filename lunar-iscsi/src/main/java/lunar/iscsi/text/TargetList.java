package lunar.iscsi.text;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import lunar.iscsi.ProtocolException;
import org.jspecify.annotations.Nullable;

/** Collects targets and their addresses from a response to SendTargets (RFC 7143 appendix C). */
final class TargetList {
    private final Consumer<ProtocolException> leftOut;
    private final List<DiscoveredTarget> targets = new ArrayList<>();
    private final List<TargetAddress> addresses = new ArrayList<>();
    /** Name of the target to which the addresses belong; empty before the first, null if it is malformed. */
    private @Nullable String name = "";
    /** Whether an address of that target is malformed. */
    private boolean lacksSome;
    private @Nullable ProtocolException first;

    TargetList(Consumer<ProtocolException> leftOut) { this.leftOut = leftOut; }

    void name(KeyValue pair) {
        finish();
        name = pair.value();
        if (!KeyValue.isName(pair.value())) {
            name = null;
            leaveOut(new ProtocolException(pair + " is no iSCSI name (RFC 7143 section 4.2.7)"));
        }
    }

    void address(KeyValue pair) throws ProtocolException {
        if (name == null) {
            return;
        }
        if (name.isEmpty()) {
            throw new ProtocolException(pair + " precedes any TargetName (RFC 7143 appendix C)");
        }
        try {
            addresses.add(TargetAddress.parse(pair.value()));
        } catch (ProtocolException e) {
            lacksSome = true;
            leaveOut(e);
        }
    }

    /** The targets that can be used. */
    List<DiscoveredTarget> targets() throws ProtocolException {
        finish();
        if (targets.isEmpty() && first != null) {
            throw first;
        }
        return targets;
    }

    private void leaveOut(ProtocolException why) {
        if (first == null) {
            first = why;
        }
        leftOut.accept(why);
    }

    /** Adds a target without an address, which is at the portal asked, but none that has malformed addresses only. */
    private void finish() {
        if (name != null && !name.isEmpty() && !(addresses.isEmpty() && lacksSome)) {
            targets.add(new DiscoveredTarget(name, addresses));
        }
        addresses.clear();
        lacksSome = false;
    }
}
