package lunar.it.fuzz;

import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import lunar.iscsi.pdu.Bhs;
import lunar.iscsi.pdu.DataOut;
import lunar.iscsi.pdu.LogoutReason;
import lunar.iscsi.pdu.LogoutRequest;
import lunar.iscsi.pdu.NopOut;
import lunar.iscsi.pdu.ScsiCommand;
import lunar.iscsi.pdu.SnackRequest;
import lunar.iscsi.pdu.SnackType;
import lunar.iscsi.pdu.TaskAttribute;
import lunar.iscsi.pdu.TaskManagementRequest;
import lunar.iscsi.pdu.TextRequest;
import lunar.scsi.Lun;

/**
 * Valid streams of the full feature phase: what an initiator sends for one or a few requests. Maintains the session's
 * sequence numbers as a correct initiator does, and predicts the tags that the target assigns to its R2Ts.
 */
final class Requests {
    /** Tags of pings that show that a stream was survived. */
    static final int PROBE = 0xf500_0000;

    private static final byte[] POOL = SeededRandom.of(0, 0).bytes(Negotiated.SEGMENT);
    private static final int BLOCK = 512;

    /** How many there are of them at each open target. */
    static final int LUNS = 6;

    private final SeededRandom random;
    private final Negotiated negotiated;
    private final boolean considerate;
    private int cmdSn = Logins.FIRST_CMD_SN;
    private int itt = 0x1000;
    private int ttt;

    /** {@code considerate}: without task management that ends the commands of others. */
    Requests(SeededRandom random, Negotiated negotiated, boolean considerate) {
        this.random = random;
        this.negotiated = negotiated;
        this.considerate = considerate;
    }

    /** The ping after a stream. */
    Wire probe(int stream) {
        return Wire.of(new NopOut(true, Lun.ZERO, PROBE | stream, Bhs.NO_TAG, cmdSn, 0));
    }

    /** A stream of requests. */
    List<Wire> next() {
        if (negotiated.discovery()) {
            return random.percent(70) ? text() : List.of(nop());
        }
        return switch (random.below(16)) {
            case 0, 1 -> List.of(read());
            case 2, 3, 4, 5 -> write();
            case 6, 7 -> List.of(parameters());
            case 8 -> withList();
            case 9 -> List.of(nop());
            case 10 -> text();
            case 11 -> manage();
            case 12 -> outOfOrder();
            case 13 -> List.of(snack());
            case 14 -> List.of(extended());
            default -> batch();
        };
    }

    /** Takes the unit attention that each LUN has for a new session, so that what follows is executed. */
    List<Wire> first() {
        var all = new ArrayList<Wire>();
        for (int lun = 0; lun < LUNS; lun++) {
            all.add(command(Lun.of(lun), false, false, 0, 0, new byte[16]));
        }
        return all;
    }

    /** The end of a session. */
    Wire logout() {
        return Wire.of(new LogoutRequest(random.percent(50), LogoutReason.CLOSE_SESSION, itt++, 0,
                cmdSn++, 0));
    }

    /** Many long reads, for a peer that does not take the answers. */
    List<Wire> flood(int count) {
        var all = new ArrayList<Wire>();
        for (int i = 0; i < count; i++) {
            int blocks = 512;
            all.add(command(Lun.ZERO, true, false, blocks * BLOCK, 0,
                    cdb(0x28, random.below(4096), blocks)));
        }
        return all;
    }

    private Wire read() {
        int blocks = random.ofInts(0, 1, 1, 8, 8, 16, 64, random.below(300));
        int lba = random.percent(95) ? random.below(8192) : random.edge(16_384);
        boolean sixteen = random.percent(30);
        int bytes = random.percent(85) ? blocks * BLOCK : random.between(0, 1 << 18);
        return command(lun(), true, false, bytes, 0,
                sixteen ? cdb16(0x88, lba, blocks) : cdb(0x28, lba, blocks));
    }

    /** Data that the target asks for come only where it is certain that it asks: it numbers the tags of its R2Ts. */
    private List<Wire> write() {
        int blocks = random.ofInts(1, 1, 2, 8, 8, 16, random.below(40), random.below(200));
        int lba = random.percent(95) ? random.below(8192) : random.edge(16_384);
        if (random.percent(75)) {
            return writing(Lun.of(random.below(LUNS)), true,
                    random.percent(70) ? cdb(0x2a, lba, blocks) : cdb16(0x8a, lba, blocks),
                    blocks * BLOCK);
        }
        byte[] cdb = random.percent(40)
                ? cdb(random.ofInts(0x2a, 0x2e, 0x2f, 0x41), lba, blocks)
                : cdb16(random.ofInts(0x8a, 0x89, 0x93, 0x8e), lba, blocks);
        if (cdb[0] == (byte) 0x89) { // COMPARE AND WRITE: twice the blocks of one byte
            blocks = blocks & 0x3f;
            cdb[13] = (byte) blocks;
            return writing(lun(), false, cdb, 2 * blocks * BLOCK);
        }
        return writing(lun(), false, cdb,
                cdb[0] == (byte) 0x93 || cdb[0] == 0x41 ? BLOCK : blocks * BLOCK);
    }

    /** A command with its immediate, unsolicited and solicited data, as negotiated. */
    private List<Wire> writing(Lun lun, boolean certain, byte[] cdb, int wished) {
        int bytes = certain
                ? wished
                : Math.min(wished, !negotiated.initialR2t() || negotiated.immediateData()
                        ? negotiated.firstBurst()
                        : 0);
        int immediate = negotiated.immediateData()
                ? Math.min(Math.min(bytes, negotiated.firstBurst()),
                        random.percent(60) || (!certain && negotiated.initialR2t())
                                ? Negotiated.SEGMENT
                                : random.below(1024) & ~3)
                : 0;
        int unsolicited = negotiated.initialR2t()
                ? immediate
                : random.percent(70) || !certain
                        ? Math.min(bytes, negotiated.firstBurst())
                        : immediate;
        var all = new ArrayList<Wire>();
        int task = itt++;
        all.add(Wire.of(new ScsiCommand(false, unsolicited == immediate, false, true,
                TaskAttribute.SIMPLE, 0, lun, task, bytes, cmdSn++, 0, MemorySegment.ofArray(cdb),
                0), data(immediate)));
        sequence(all, lun, task, Bhs.NO_TAG, immediate, unsolicited);
        for (int at = unsolicited; at < bytes; at += negotiated.maxBurst()) {
            sequence(all, lun, task, ++ttt, at, Math.min(bytes, at + negotiated.maxBurst()));
        }
        return all;
    }

    private void sequence(List<Wire> to, Lun lun, int task, int tag, int from, int end) {
        int segment = random.ofInts(512, 4096, 8192, 65_536, Negotiated.SEGMENT);
        segment = Math.max(segment, (end - from) / 20 & ~3);
        int dataSn = 0;
        for (int at = from; at < end; at += segment) {
            int length = Math.min(segment, end - at);
            to.add(Wire.of(new DataOut(at + length == end, tag == Bhs.NO_TAG ? Lun.ZERO : lun, task,
                    tag, 0, dataSn++, at), data(length)));
        }
    }

    /** A command that answers with parameter data, or none. */
    private Wire parameters() {
        int length = random.ofInts(0, 4, 8, 36, 64, 96, 255, 512, 4096);
        byte[] cdb = new byte[16];
        switch (random.below(14)) {
            case 0 -> {
            }
            case 1 -> set(cdb, 0x03, 4, length);
            case 2 -> {
                set(cdb, 0x12, 3, length >> 8, length);
                if (random.percent(60)) {
                    cdb[1] = 1;
                    cdb[2] = (byte) random.ofInts(0, 0x80, 0x83, 0x86, 0xb0, 0xb1, 0xb2,
                            random.below(256));
                }
            }
            case 3 -> {
                set(cdb, 0x1a, 4, length);
                cdb[2] = (byte) random.ofInts(0x3f, 0x08, 0x0a, 0x1c, random.below(256));
            }
            case 4 -> {
                set(cdb, 0x5a, 7, length >> 8, length);
                cdb[2] = (byte) random.ofInts(0x3f, 0x08, 0x0a, 0x1c, random.below(256));
            }
            case 5 -> set(cdb, 0x25, 9, 0);
            case 6 -> {
                set(cdb, 0x9e, 12, length >> 8, length);
                cdb[1] = (byte) random.ofInts(0x10, 0x10, 0x12, random.below(256));
            }
            case 7 -> {
                set(cdb, 0xa0, 8, length >> 8, length);
                cdb[2] = (byte) random.below(4);
            }
            case 8 -> {
                set(cdb, 0xa3, 8, length >> 8, length);
                cdb[1] = (byte) random.ofInts(0x0a, 0x0c, 0x0d, random.below(32));
                cdb[2] = (byte) random.below(8);
                cdb[3] = (byte) random.below(256);
            }
            case 9 -> {
                set(cdb, 0x5e, 7, length >> 8, length);
                cdb[1] = (byte) random.below(5);
            }
            case 10 -> set(cdb, random.ofInts(0x35, 0x91), 8, 1);
            case 11 -> set(cdb, 0x1b, 4, random.below(4));
            case 12 -> set(cdb, random.ofInts(0x16, 0x17, 0x1e, 0x34, 0x90, 0x2f, 0x8f), 8, 1);
            default -> {
                byte[] any = random.bytes(16);
                System.arraycopy(any, 0, cdb, 0, 16);
            }
        }
        return command(lun(), length > 0, false, length, 0, cdb);
    }

    /** A command that brings a parameter list. */
    private List<Wire> withList() {
        byte[] cdb = new byte[16];
        int length = 24;
        switch (random.below(4)) {
            case 0 -> set(cdb, 0x42, 7, 0, length); // UNMAP of one range
            case 1 -> set(cdb, 0x15, 4, length);
            case 2 -> set(cdb, 0x55, 7, 0, length);
            default -> {
                set(cdb, 0x5f, 7, 0, length);
                cdb[1] = (byte) random.below(8);
            }
        }
        List<Wire> all = writing(lun(), false, cdb, length);

        byte[] list = new byte[24];
        if (cdb[0] == 0x42) {
            set(list, 0, 1, 22, 0, 16);
            set(list, 0, 14, random.below(40), random.below(256), 0, 0, 0, random.below(64));
        } else {
            list = random.bytes(24);
        }
        if (all.getFirst().data.length == list.length) {
            all.getFirst().data = list;
        }
        return all;
    }

    private Wire nop() {
        boolean immediate = random.percent(30);
        return Wire.of(new NopOut(immediate, Lun.ZERO, itt++, Bhs.NO_TAG,
                immediate ? cmdSn : cmdSn++, 0), data(random.ofInts(0, 0, 4, 30, 600, 5000)));
    }

    private List<Wire> text() {
        int task = itt++;
        String said = random.of("SendTargets=All", "SendTargets=", "MaxRecvDataSegmentLength=8192",
                "SendTargets=" + Peers.OPEN.getFirst(), "X-org.lunar.fuzz=1");
        byte[] bytes = (said + "\0").getBytes(StandardCharsets.UTF_8);
        if (random.percent(70)) {
            return List.of(Wire.of(new TextRequest(false, true, false, Lun.ZERO, task, Bhs.NO_TAG,
                    cmdSn++, 0), bytes));
        }
        int cut = random.below(bytes.length);
        return List.of(
                Wire.of(new TextRequest(false, false, true, Lun.ZERO, task, Bhs.NO_TAG, cmdSn++, 0),
                        Arrays.copyOf(bytes, cut)),
                Wire.of(new TextRequest(false, true, false, Lun.ZERO, task, 1, cmdSn++, 0),
                        Arrays.copyOfRange(bytes, cut, bytes.length)));
    }

    /** A command whose data do not come, and task management that ends it or not. */
    private List<Wire> manage() {
        var all = new ArrayList<Wire>();
        int function = considerate ? random.ofInts(1, 2, 3, 9, 10, 12, 14) : random.between(1, 14);
        Lun lun = Lun.of(random.below(LUNS));
        int referenced = itt;
        if (random.percent(60)) {
            int bytes = 8192;
            all.add(command(lun, false, true, bytes, 0, cdb(0x2a, 0, bytes / BLOCK)));
            ttt += Math.min(negotiated.outstandingR2t(),
                    (bytes + negotiated.maxBurst() - 1) / negotiated.maxBurst());
        }
        all.add(Wire.of(new TaskManagementRequest(true, function, lun, itt++,
                function == 1 ? referenced : Bhs.NO_TAG, cmdSn, 0, cmdSn - 1, 0)));
        return all;
    }

    /** Commands whose numbers come in another order. */
    private List<Wire> outOfOrder() {
        var all = new ArrayList<Wire>();
        int count = random.between(2, 6);
        for (int i = 0; i < count; i++) {
            all.add(random.percent(50) ? read() : parameters());
        }
        for (int i = count - 1; i > 0; i--) {
            java.util.Collections.swap(all, i, random.below(i + 1));
        }
        return all;
    }

    private List<Wire> batch() {
        var all = new ArrayList<Wire>();
        for (int i = random.between(2, 6); i > 0; i--) {
            if (random.percent(30)) {
                all.addAll(write());
            } else {
                all.add(random.percent(50) ? read() : parameters());
            }
        }
        return all;
    }

    private Wire snack() {
        return switch (random.below(4)) {
            case 0 -> Wire.of(new SnackRequest(SnackType.DATA_R2T, Lun.ZERO, itt - 1, Bhs.NO_TAG, 0,
                    0, 0));
            case 1 -> Wire.of(new SnackRequest(SnackType.STATUS, Lun.ZERO, Bhs.NO_TAG, Bhs.NO_TAG,
                    0, 1, 1));
            case 2 ->
                Wire.of(new SnackRequest(SnackType.DATA_ACK, Lun.ZERO, Bhs.NO_TAG, 7, 0, 1, 0));
            default -> Wire.of(new SnackRequest(SnackType.R_DATA, Lun.ZERO, itt - 1, 7, 0, 0, 0));
        };
    }

    /** A command with additional header segments: a long CDB, or both directions. */
    private Wire extended() {
        if (random.percent(50)) {
            byte[] cdb = Arrays.copyOf(random.bytes(random.between(17, 260)), 260);
            cdb[0] = 0x7f;
            cdb[7] = 24;
            return command(lun(), false, false, 0, 0, Arrays.copyOf(cdb, random.between(17, 260)));
        }
        return Wire.of(new ScsiCommand(false, true, true, true, TaskAttribute.SIMPLE, 0, lun(),
                itt++, 0, cmdSn++, 0, MemorySegment.ofArray(cdb(0x53, 0, 1)), BLOCK));
    }

    private Wire command(Lun lun, boolean read, boolean write, int bytes, int immediate,
            byte[] cdb) {
        return Wire.of(new ScsiCommand(false, true, read, write, TaskAttribute.SIMPLE, 0, lun,
                itt++, bytes, cmdSn++, 0, MemorySegment.ofArray(cdb), 0), data(immediate));
    }

    /** Mostly one that is there. */
    private Lun lun() {
        return random.percent(92)
                ? Lun.of(random.ofInts(0, 0, 0, 1, 1, 2, 3, 4, 5))
                : new Lun(random.percent(50) ? (long) random.below(300) << 48 : random.number());
    }

    static byte[] data(int length) { return Arrays.copyOf(POOL, length); }

    private static byte[] cdb(int opcode, int lba, int blocks) {
        byte[] cdb = new byte[16];
        set(cdb, opcode, 2, lba >> 24, lba >> 16, lba >> 8, lba, 0, blocks >> 8, blocks);
        return cdb;
    }

    private static byte[] cdb16(int opcode, int lba, int blocks) {
        byte[] cdb = new byte[16];
        set(cdb, opcode, 6, lba >> 24, lba >> 16, lba >> 8, lba, 0, 0, blocks >> 8, blocks);
        return cdb;
    }

    private static void set(byte[] to, int first, int at, int... values) {
        to[0] = (byte) first;
        for (int i = 0; i < values.length; i++) {
            to[at + i] = (byte) values[i];
        }
    }
}
