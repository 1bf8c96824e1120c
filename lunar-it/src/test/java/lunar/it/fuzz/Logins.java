package lunar.it.fuzz;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import lunar.iscsi.pdu.Bhs;
import lunar.iscsi.pdu.Isid;
import lunar.iscsi.pdu.LoginRequest;
import lunar.iscsi.pdu.LoginStage;

/** Valid Login Requests. */
final class Logins {
    static final int FIRST_CMD_SN = 1;
    private static final int ITT = 0x4c4f;

    /** A login: its requests, and what they lead to. */
    record Login(List<Wire> requests, Negotiated negotiated) {}

    private final SeededRandom random;
    private final Isid isid;

    Logins(SeededRandom random, Isid isid) {
        this.random = random;
        this.isid = isid;
    }

    /** A unique ISID of the random kind, with the plan's number. */
    static Isid isid(long number) {
        return new Isid(2L << 46 | number & 0xff_ffff_ffffL);
    }

    /** A login that ends in full feature phase, to a target that many use. */
    Login normal() {
        return normal(random.of(Peers.OPEN));
    }

    /** A login that ends in full feature phase. */
    Login normal(String target) {
        boolean headerDigest = random.percent(30);
        boolean dataDigest = random.percent(30);
        boolean initialR2t = random.percent(50);
        boolean immediateData = random.percent(75);
        int maxBurst = random.ofInts(512, 4096, 16_384, 65_536, 262_144, 1 << 20);
        int firstBurst = Math.min(maxBurst, random.ofInts(512, 2048, 8192, 65_536, 262_144));
        int outstanding = random.ofInts(1, 1, 2, 8, 16);
        var keys = new LinkedHashMap<String, String>();
        keys.put("HeaderDigest", headerDigest ? "CRC32C" : "None");
        keys.put("DataDigest", dataDigest ? "CRC32C" : "None");
        keys.put("InitialR2T", initialR2t ? "Yes" : "No");
        keys.put("ImmediateData", immediateData ? "Yes" : "No");
        keys.put("MaxBurstLength", Integer.toString(maxBurst));
        keys.put("FirstBurstLength", Integer.toString(firstBurst));
        keys.put("MaxOutstandingR2T", Integer.toString(outstanding));
        keys.put("MaxRecvDataSegmentLength", random.of("512", "8192", "65536", "262144"));
        keys.put("DefaultTime2Wait", random.of("0", "2"));
        keys.put("DefaultTime2Retain", random.of("0", "20"));
        keys.put("ErrorRecoveryLevel", random.of("0", "1", "2"));
        keys.put("MaxConnections", random.of("1", "4"));
        keys.put("DataPDUInOrder", random.of("Yes", "No"));
        keys.put("DataSequenceInOrder", random.of("Yes", "No"));
        return new Login(requests(names(target), keys),
                new Negotiated(headerDigest, dataDigest, initialR2t, immediateData, firstBurst,
                        maxBurst, outstanding, false));
    }

    /** A login that may ask for the names of targets only. */
    Login discovery() {
        var names = new LinkedHashMap<String, String>();
        names.put("InitiatorName", "iqn.2026-01.org.lunar:fuzzer");
        names.put("SessionType", "Discovery");
        var keys = new LinkedHashMap<String, String>();
        keys.put("HeaderDigest", "None");
        keys.put("MaxRecvDataSegmentLength", random.of("512", "8192"));
        return new Login(requests(names, keys),
                new Negotiated(false, false, true, true, 65_536, 262_144, 1, true));
    }

    /** The beginning of a login with CHAP, up to where the target sends its challenge. */
    List<Wire> chap() {
        Map<String, String> keys = names(Peers.GUARDED);
        keys.put("AuthMethod", random.of("CHAP", "CHAP,None", "KRB5,CHAP"));
        return List.of(
                request(false, LoginStage.SECURITY, LoginStage.SECURITY, keys),
                request(false, LoginStage.SECURITY, LoginStage.SECURITY,
                        Map.of("CHAP_A", random.of("5", "6", "7", "8", "7,5", "9,8,7,6,5"))));
    }

    /** Adds the requests after the response to a challenge. */
    Wire afterChap() {
        return request(true, LoginStage.OPERATIONAL, LoginStage.FULL_FEATURE,
                Map.of("HeaderDigest", "None", "DataDigest", "None"));
    }

    private static Map<String, String> names(String target) {
        var names = new LinkedHashMap<String, String>();
        names.put("InitiatorName", "iqn.2026-01.org.lunar:fuzzer");
        names.put("TargetName", target);
        names.put("SessionType", "Normal");
        return names;
    }

    /** At once in the operational stage, or through that of security; text in one PDU or in two. */
    private List<Wire> requests(Map<String, String> names, Map<String, String> keys) {
        if (random.percent(50)) {
            names.putAll(keys);
            return List.of(request(true, LoginStage.OPERATIONAL, LoginStage.FULL_FEATURE, names));
        }
        names.put("AuthMethod", random.of("None", "CHAP,None", "None,CHAP"));
        var requests = new ArrayList<Wire>();
        requests.add(request(true, LoginStage.SECURITY, LoginStage.OPERATIONAL, names));
        if (random.percent(20)) {
            byte[] text = text(keys);
            int cut = random.below(text.length);
            requests.add(Wire.of(header(false, true, LoginStage.OPERATIONAL,
                    LoginStage.OPERATIONAL), java.util.Arrays.copyOf(text, cut)));
            requests.add(Wire.of(header(true, false, LoginStage.OPERATIONAL,
                    LoginStage.FULL_FEATURE),
                    java.util.Arrays.copyOfRange(text, cut, text.length)));
        } else {
            requests.add(request(true, LoginStage.OPERATIONAL, LoginStage.FULL_FEATURE, keys));
        }
        return requests;
    }

    private Wire request(boolean transit, LoginStage from, LoginStage to,
            Map<String, String> keys) {
        return Wire.of(header(transit, false, from, to), text(keys));
    }

    private LoginRequest header(boolean transit, boolean more, LoginStage from, LoginStage to) {
        return new LoginRequest(transit, more, from, to, 0, 0, isid, 0, ITT, 0, FIRST_CMD_SN, 0);
    }

    static byte[] text(Map<String, String> keys) {
        var text = new StringBuilder();
        keys.forEach((key, value) -> text.append(key).append('=').append(value).append('\0'));
        return text.toString().getBytes(StandardCharsets.UTF_8);
    }

    /** Whether this PDU is one. */
    static boolean isLogin(Wire pdu) {
        return pdu.opcode() == LoginRequest.OPCODE;
    }

    static void isid(Wire login, Isid isid) {
        Bhs bhs = login.bhs();
        bhs.int64(LoginRequest.ISID, isid.value() << 16 | bhs.int16(LoginRequest.TSIH));
    }
}
