package lunar.admin.report;

import java.net.InetSocketAddress;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import lunar.iscsi.login.OperationalParameters;
import lunar.iscsi.text.PeerText;
import lunar.target.status.ConnectionStatus;
import lunar.target.status.SessionStatus;

/** Reports a session. Text of the initiator has no control characters. */
public final class SessionReport {
    /** Key of the initiator name. */
    public static final String INITIATOR = "initiator";

    private SessionReport() {}

    /** Returns the tree of a session. */
    public static Map<String, Object> tree(SessionStatus session) {
        var tree = new LinkedHashMap<String, Object>();
        tree.put("tsih", session.tsih());
        tree.put("isid", session.isid().toString());
        tree.put(INITIATOR, PeerText.printable(session.initiatorName()));
        tree.put("target", session.targetName());
        tree.put("portalGroup", session.login().portalGroupTag().orElse(0));
        tree.put("chapUser", session.chapUser().map(PeerText::printable).orElse(null));
        tree.put("since", session.since().toString());
        tree.put("connections",
                session.connections().stream().map(SessionReport::connection).toList());
        tree.put("negotiated", negotiated(session.parameters()));
        tree.put("commands", CommandReport.tree(session.commands()));
        return tree;
    }

    private static Map<String, Object> connection(ConnectionStatus connection) {
        var tree = new LinkedHashMap<String, Object>();
        tree.put("cid", connection.cid());
        tree.put("transport", connection.transport());
        tree.put(INITIATOR, address(connection.initiator()));
        tree.put("portal", address(connection.portal()));
        return tree;
    }

    /** Returns {@code HOST:PORT}. */
    public static String address(InetSocketAddress address) {
        String host = address.getAddress().getHostAddress();
        return (host.indexOf(':') < 0 ? host : "[" + host + "]") + ":" + address.getPort();
    }

    private static Map<String, Object> negotiated(OperationalParameters parameters) {
        var tree = new LinkedHashMap<String, Object>();
        tree.put("headerDigest", digest(parameters.headerDigest()));
        tree.put("dataDigest", digest(parameters.dataDigest()));
        tree.put("maxConnections", parameters.maxConnections());
        tree.put("initialR2t", parameters.initialR2t());
        tree.put("immediateData", parameters.immediateData());
        tree.put("maxReceiveDataSegmentLength", parameters.maxReceiveDataSegmentLength());
        tree.put("maxSendDataSegmentLength", parameters.maxSendDataSegmentLength());
        tree.put("maxBurstLength", parameters.maxBurstLength());
        tree.put("firstBurstLength", parameters.firstBurstLength());
        tree.put("maxOutstandingR2t", parameters.maxOutstandingR2t());
        tree.put("defaultTime2Wait", parameters.defaultTime2WaitSeconds());
        tree.put("defaultTime2Retain", parameters.defaultTime2RetainSeconds());
        tree.put("errorRecoveryLevel", parameters.errorRecoveryLevel());
        tree.put("taskReporting", parameters.taskReporting().name().toLowerCase(Locale.ROOT));
        tree.put("protocolLevel", parameters.protocolLevel());
        return tree;
    }

    private static String digest(boolean isCrc32c) { return isCrc32c ? "crc32c" : "none"; }
}
