package lunar.iscsi;

import java.util.List;
import java.util.OptionalInt;
import java.util.function.Function;

/**
 * The target's side of one text negotiation in the full feature phase (RFC 7143 section 6.2): SendTargets and a new
 * MaxRecvDataSegmentLength. One negotiation is one Initiator Task Tag.
 */
public final class TargetText {
    /**
     * @param result the login of the connection
     * @param targets answers SendTargets: which targets and portals this initiator may see
     * @param limits how much the initiator may say
     */
    public TargetText(LoginResult result, Function<SendTargets, List<DiscoveredTarget>> targets,
            LoginLimits limits) {}

    /** Takes a Text Request, gives the Text Response. The negotiation is over when that is final. */
    public TextTurn receive(TextTurn request) throws ProtocolException {
        throw new UnsupportedOperationException();
    }

    /** The MaxRecvDataSegmentLength that the initiator declared; holds once the negotiation is over. */
    public OptionalInt maxSendDataSegmentLength() {
        throw new UnsupportedOperationException();
    }
}
