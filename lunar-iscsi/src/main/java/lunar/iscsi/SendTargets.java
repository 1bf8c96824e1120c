package lunar.iscsi;

import java.util.ArrayList;
import java.util.List;

/** The SendTargets key: which targets shall be named (RFC 7143 appendix C). */
public sealed interface SendTargets {
    /** All targets that the initiator may see; in a discovery session only. */
    record All() implements SendTargets {}

    /** One target. */
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

    /** Reads the keys of a response. */
    static List<DiscoveredTarget> parse(TextKeys response) throws ProtocolException {
        var targets = new ArrayList<DiscoveredTarget>();
        var addresses = new ArrayList<TargetAddress>();
        String name = "";
        for (var pair : response.pairs()) {
            switch (Key.of(pair.key()).orElse(null)) {
                case TARGET_NAME -> {
                    if (!KeyValue.isName(pair.value())) {
                        throw new ProtocolException(
                                pair + " is no iSCSI name (RFC 7143 section 4.2.7)");
                    }
                    if (!name.isEmpty()) {
                        targets.add(new DiscoveredTarget(name, addresses));
                    }
                    name = pair.value();
                    addresses.clear();
                }
                case TARGET_ADDRESS -> {
                    if (name.isEmpty()) {
                        throw new ProtocolException(
                                pair + " belongs to no TargetName (RFC 7143 appendix C)");
                    }
                    addresses.add(TargetAddress.parse(pair.value()));
                }
                case SEND_TARGETS ->
                    throw new ProtocolException("the target answers " + pair);
                case null, default -> {
                } // nothing that names a target
            }
        }
        if (!name.isEmpty()) {
            targets.add(new DiscoveredTarget(name, addresses));
        }
        return targets;
    }
}
