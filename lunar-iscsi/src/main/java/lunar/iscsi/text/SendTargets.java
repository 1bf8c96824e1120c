package lunar.iscsi.text;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import lunar.iscsi.ProtocolException;

/** Values of the SendTargets key, which select the targets to return (RFC 7143 appendix C). */
public sealed interface SendTargets {
    /** All targets that the initiator may see; in a discovery session only. */
    record All() implements SendTargets {}

    /** Asks for one target. */
    record Named(String targetName) implements SendTargets {}

    /** The target of the session; in a normal session only. */
    record Current() implements SendTargets {}

    /** The keys of the request. */
    default TextKeys request() {
        String value = switch (this) {
            case All _ -> "All";
            case Named(String name) -> name;
            case Current _ -> "";
        };
        return TextKeys.of(new KeyValue(Key.SEND_TARGETS.text(), value));
    }

    /** The value of the key. */
    static SendTargets of(String value) throws ProtocolException {
        if (value.equals("All")) {
            return new All();
        }
        if (value.isEmpty()) {
            return new Current();
        }
        if (!KeyValue.isName(value)) {
            throw new ProtocolException("SendTargets=" + PeerText.printable(value)
                    + " is no iSCSI name (RFC 7143 appendix C)");
        }
        return new Named(value);
    }

    /** The keys of the response. */
    static TextKeys response(List<DiscoveredTarget> targets) {
        var pairs = new ArrayList<KeyValue>();
        for (var target : targets) {
            pairs.add(new KeyValue(Key.TARGET_NAME.text(), target.name()));
            for (var address : target.addresses()) {
                pairs.add(new KeyValue(Key.TARGET_ADDRESS.text(), address.toString()));
            }
        }
        return new TextKeys(pairs);
    }

    /**
     * Parses the keys of a response. Malformed entries are skipped: a single malformed address, or a target whose name
     * or addresses are all malformed.
     *
     * @param leftOut called with each malformed name and address
     * @throws ProtocolException if no valid entry remains, or the text is not a list of targets
     */
    static List<DiscoveredTarget> parse(TextKeys response, Consumer<ProtocolException> leftOut)
            throws ProtocolException {
        var list = new TargetList(leftOut);
        for (var pair : response.pairs()) {
            switch (Key.of(pair.key()).orElse(null)) {
                case TARGET_NAME -> list.name(pair);
                case TARGET_ADDRESS -> list.address(pair);
                case SEND_TARGETS ->
                    throw new ProtocolException("unexpected response to SendTargets: " + pair);
                case null, default -> {
                } // nothing that names a target
            }
        }
        return list.targets();
    }
}
