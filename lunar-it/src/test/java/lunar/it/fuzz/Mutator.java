package lunar.it.fuzz;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** Mutates streams, in as many ways as peers do by accident and attackers on purpose. */
final class Mutator {
    /** Fields of four bytes that some PDU has: flags and lengths, LUN, tags, numbers, offsets, CDB. */
    private static final int[] WORDS = {0, 4, 8, 12, 16, 20, 24, 28, 32, 36, 40, 44};
    private static final int CONTINUE = 0x40;
    private static final int FINAL = 0x80;

    private static final List<String> KEYS = List.of("HeaderDigest", "DataDigest", "MaxConnections",
            "SendTargets", "TargetName", "InitiatorName", "TargetAlias", "InitiatorAlias",
            "TargetAddress", "TargetPortalGroupTag", "InitialR2T", "ImmediateData",
            "MaxRecvDataSegmentLength", "MaxBurstLength", "FirstBurstLength", "DefaultTime2Wait",
            "DefaultTime2Retain", "MaxOutstandingR2T", "DataPDUInOrder", "DataSequenceInOrder",
            "ErrorRecoveryLevel", "SessionType", "AuthMethod", "CHAP_A", "CHAP_I", "CHAP_C",
            "CHAP_N", "CHAP_R", "TaskReporting", "iSCSIProtocolLevel", "RDMAExtensions",
            "OFMarker", "IFMarkInt", "X-com.example.fuzz", "x#", "", "=", "a b", "\u00e4");
    private static final List<String> VALUES = List.of("", "Yes", "No", "None", "CRC32C",
            "None,CRC32C", "CRC32C,CRC32C", ",", ",,,,", "0", "1", "-1", "00", "0x", "0x0", "0xg",
            "0b", "0bAAAA", "0b====", "4294967295", "4294967296", "16777215", "16777216", "511",
            "512", "99999999999999999999999999", "0x7fffffffffffffffff", "1~2", "2~1", "~", "1~",
            "Reject", "NotUnderstood", "Irrelevant", "Normal", "Discovery", "All", "\u00e4\u00f6",
            "\r\n", "%s%n", "iqn.2026-01.org.lunar:plain", "eui.0123456789abcdef", "[::1]:3260,1");

    private final SeededRandom random;

    Mutator(SeededRandom random) { this.random = random; }

    /** Applies one to three mutations to a stream. */
    List<Wire> mutate(List<Wire> stream) {
        var pdus = new ArrayList<>(stream.stream().map(Wire::copy).toList());
        for (int i = random.ofInts(1, 1, 1, 2, 3); i > 0 && !pdus.isEmpty(); i--) {
            mutateOnce(pdus);
        }
        return pdus;
    }

    private void mutateOnce(List<Wire> pdus) {
        int at = random.below(pdus.size());
        Wire pdu = pdus.get(at);
        switch (random.below(24)) {
            case 0, 1, 2 -> flip(pdu.header, random.between(1, 4));
            case 3, 4, 5, 6 -> word(pdu, WORDS[random.below(WORDS.length)]);
            case 7 -> pdu.header[random.below(pdu.header.length)] = (byte) random.edge(0);
            case 8 -> pdu.header[0] = (byte) random.ofInts(random.below(0x40), random.below(0x80),
                    pdu.header[0] ^ 0x40, random.ofInts(1, 2, 3, 4, 5, 6, 0x10, 0x41, 0x43));
            case 9 -> pdu.header[1] = (byte) random.below(256);
            case 10 -> flip(pdu.data, random.between(1, 8));
            case 11 -> pdus.remove(at);
            case 12 -> pdus.add(random.below(pdus.size() + 1), pdu.copy());
            case 13 -> java.util.Collections.swap(pdus, at, random.below(pdus.size()));
            case 14 -> length(pdu);
            case 15 -> ahs(pdu);
            case 16 -> resize(pdu);
            case 17 -> {
                pdu.wrongHeaderDigest = random.percent(50);
                pdu.wrongDataDigest = !pdu.wrongHeaderDigest;
            }
            case 18 -> garbage(pdu);
            case 19, 20, 21 -> text(pdu);
            case 22 -> continued(pdus, at);
            default -> System.arraycopy(random.bytes(16), 0, pdu.header, 32, 16);
        }
    }

    private void flip(byte[] bytes, int count) {
        for (int i = 0; i < count && bytes.length > 0; i++) {
            bytes[random.below(bytes.length)] ^= (byte) (1 << random.below(8));
        }
    }

    private void word(Wire pdu, int at) { pdu.bhs().int32(at, random.edge(pdu.bhs().int32(at))); }

    /** The header lies about what follows. */
    private void length(Wire pdu) {
        int length = random.edge(pdu.data.length);
        pdu.header[5] = (byte) (length >> 16);
        pdu.header[6] = (byte) (length >> 8);
        pdu.header[7] = (byte) length;
    }

    private void ahs(Wire pdu) {
        pdu.ahs = random.bytes(4 * random.ofInts(1, 2, 3, 16, 65, 66, 255));
        if (random.percent(50)) {
            pdu.ahs[0] = 0;
            pdu.ahs[1] = (byte) random.ofInts(0, 1, 5, pdu.ahs.length - 3, pdu.ahs.length, 255);
            pdu.ahs[2] = (byte) random.ofInts(0, 1, 2, 3, 0x3f, 0x41);
        }
        if (random.percent(80)) {
            pdu.lengths();
        }
    }

    /** More or fewer data, and the header knows. */
    private void resize(Wire pdu) {
        int length = random.perMille(10)
                ? random.between(250_000, 300_000)
                : random.ofInts(0, 1, 3, 4, 511, 512, 513, 4096, 8191, 8192, 8193,
                        random.below(9000));
        pdu.data = length <= pdu.data.length || length > 8193
                ? Arrays.copyOf(pdu.data, length)
                : random.bytes(length);
        pdu.lengths();
    }

    private void garbage(Wire pdu) {
        if (random.percent(50)) {
            System.arraycopy(random.bytes(pdu.header.length), 0, pdu.header, 0, pdu.header.length);
        } else {
            pdu.data = random.bytes(random.below(600)); // and the header does not know
        }
    }

    /** Another text, or that of a login or text request changed. */
    private void text(Wire pdu) {
        var text = new ByteArrayOutputStream();
        if (random.percent(60)) {
            text.writeBytes(pdu.data);
        }
        switch (random.below(8)) {
            case 0 -> {
                for (int i = random.between(2, 400); i > 0 && text.size() < 7900; i--) {
                    pair(text, "K" + i, "");
                }
            }
            case 1 -> text.writeBytes(repeated('a', random.ofInts(1, 63, 64, 255, 256, 4000)));
            case 2 -> pair(text, new String(repeated('k', random.ofInts(63, 64, 300)),
                    StandardCharsets.US_ASCII), "v");
            case 3 -> pair(text, random.of(KEYS), new String(
                    repeated('1', random.ofInts(20, 254, 255, 256, 2048, 6000)),
                    StandardCharsets.US_ASCII));
            case 4 -> text.writeBytes(new byte[random.between(1, 64)]);
            case 5 -> text.writeBytes(random.bytes(random.below(500)));
            default -> {
                for (int i = random.between(1, 4); i > 0; i--) {
                    pair(text, random.of(KEYS), random.of(VALUES));
                }
            }
        }
        pdu.data = text.toByteArray();
        if (random.percent(10) && pdu.data.length > 0) {
            pdu.data = Arrays.copyOf(pdu.data, pdu.data.length - 1); // no NUL at the end
        }
        pdu.lengths();
    }

    private static void pair(ByteArrayOutputStream to, String key, String value) {
        to.writeBytes(key.getBytes(StandardCharsets.UTF_8));
        to.write('=');
        to.writeBytes(value.getBytes(StandardCharsets.UTF_8));
        to.write(0);
    }

    private static byte[] repeated(char what, int count) {
        byte[] bytes = new byte[count];
        Arrays.fill(bytes, (byte) what);
        return bytes;
    }

    /** A text of endless continuations. */
    private void continued(List<Wire> pdus, int at) {
        Wire pdu = pdus.get(at);
        pdu.header[1] = (byte) (pdu.header[1] & ~FINAL | CONTINUE);
        int bytes = random.ofInts(0, 1, 100, 2000);
        for (int i = random.ofInts(1, 3, 20, 63, 64, 65, 80); i > 0; i--) {
            Wire more = pdu.copy();
            more.data = repeated('c', bytes);
            more.lengths();
            pdus.add(at + 1, more);
        }
    }
}
