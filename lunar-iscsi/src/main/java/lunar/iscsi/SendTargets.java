package lunar.iscsi;

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
        throw new UnsupportedOperationException();
    }

    /** The value of the key. */
    static SendTargets of(String value) throws ProtocolException {
        throw new UnsupportedOperationException();
    }

    /** The keys of the response. */
    static TextKeys response(List<DiscoveredTarget> targets) {
        throw new UnsupportedOperationException();
    }

    /** Reads the keys of a response. */
    static List<DiscoveredTarget> parse(TextKeys response) throws ProtocolException {
        throw new UnsupportedOperationException();
    }
}
