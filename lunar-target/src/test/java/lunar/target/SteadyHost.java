package lunar.target;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import lunar.iscsi.ProtocolException;
import lunar.iscsi.pdu.Bhs;
import lunar.iscsi.pdu.DataIn;
import lunar.iscsi.pdu.DataOut;
import lunar.iscsi.pdu.Isid;
import lunar.iscsi.pdu.LoginRequest;
import lunar.iscsi.pdu.LoginStage;
import lunar.iscsi.pdu.R2t;
import lunar.iscsi.pdu.ScsiCommand;
import lunar.iscsi.pdu.ScsiResponse;
import lunar.iscsi.pdu.TaskAttribute;
import lunar.scsi.Lun;
import lunar.target.internal.session.Connection;
import lunar.target.internal.session.LoginPhase;

/**
 * Host without a network that sends one kind of command in batches and checks that each of them succeeds. It allocates
 * nothing after its login, so its thread's allocations are the target's.
 */
final class SteadyHost extends UnconnectedTransport {
    private static final int MAX_PENDING = 1024;
    private static final int BLOCK_BYTES = 512;

    private final Connection connection;
    private final boolean write;
    private final boolean immediateData;
    private final boolean unsolicited;
    private final int bytes;
    private final Bhs command = new Bhs().wrap(Arena.ofAuto().allocate(Bhs.LENGTH, 8));
    private final Bhs dataOut = new Bhs().wrap(Arena.ofAuto().allocate(Bhs.LENGTH, 8));
    private final Bhs answer = new Bhs();
    private final MemorySegment data;
    private final Release[] sent = new Release[MAX_PENDING];
    private final int[] r2tItts = new int[MAX_PENDING];
    private final int[] r2tTags = new int[MAX_PENDING];
    private int sentCount;
    private int r2tCount;
    private int cmdSn = 1;
    private int ended;
    private boolean steady;

    /** @param keys of the login, each with a zero at its end; of the data of writes they decide how these go */
    SteadyHost(TargetServer server, byte[] cdb, boolean write, int blocks, String keys)
            throws ProtocolException {
        this.write = write;
        immediateData = !keys.contains("ImmediateData=No");
        unsolicited = keys.contains("InitialR2T=No");
        bytes = blocks * BLOCK_BYTES;
        data = Arena.ofAuto().allocate(bytes, 8).fill((byte) 0x5a);
        connection = LoginPhase.accept(server.shared(),
                server.shared().portals().all().getFirst(), this);
        login(keys);
        new ScsiCommand(false, true, false, false, TaskAttribute.SIMPLE, 0, Lun.ZERO, cmdSn, 0,
                cmdSn++, 0, MemorySegment.ofArray(new byte[6]), 0).encode(command);
        connection.received(command, MemorySegment.NULL, MemorySegment.NULL); // hears of the unit attention
        connection.batchEnd();
        new ScsiCommand(false, !(write && unsolicited), !write, write, TaskAttribute.SIMPLE, 0,
                Lun.ZERO, 0, bytes, 0, 0, MemorySegment.ofArray(cdb), 0).encode(command);
        command.lengths(0, write && immediateData ? bytes : 0);
        steady = true;
    }

    private void login(String keys) throws ProtocolException {
        var bhs = new Bhs().wrap(MemorySegment.ofArray(new byte[Bhs.LENGTH]));
        byte[] text = ("InitiatorName=iqn.2026-11.org.lunar:host\0TargetName="
                + RawInitiator.TARGET + "\0SessionType=Normal\0" + keys)
                .getBytes(StandardCharsets.UTF_8);
        new LoginRequest(true, false, LoginStage.OPERATIONAL, LoginStage.FULL_FEATURE, 0, 0,
                new Isid(1), 0, 1, 0, cmdSn, 0).encode(bhs);
        bhs.lengths(0, text.length);
        connection.received(bhs, MemorySegment.NULL, MemorySegment.ofArray(text));
    }

    /** Sends so many commands, a batch at a time. */
    void run(int count, int depth) throws ProtocolException {
        for (int done = 0; done < count; done += depth) {
            ended = 0;
            for (int i = 0; i < depth; i++) {
                send();
            }
            connection.batchEnd();
            while (r2tCount > 0) {
                r2tCount--;
                dataOut(r2tItts[r2tCount], r2tTags[r2tCount]);
            }
            connection.batchEnd();
            if (ended != depth) {
                throw new AssertionError(ended + " of " + depth + " commands have ended well");
            }
        }
    }

    private void send() throws ProtocolException {
        int itt = cmdSn << 8; // as some hosts have them
        command.int32(16, itt).int32(24, cmdSn++);
        MemorySegment came = MemorySegment.NULL;
        if (write && immediateData) {
            came = fill(command, bytes);
        }
        connection.received(command, MemorySegment.NULL, came);
        if (write && unsolicited) {
            dataOut(itt, Bhs.NO_TAG);
        }
    }

    private void dataOut(int itt, int ttt) throws ProtocolException {
        dataOut.start(DataOut.OPCODE, false, 0x80).lengths(0, bytes).int32(16, itt).int32(20, ttt)
                .int32(DataOut.DATA_SN, 0).int32(DataOut.BUFFER_OFFSET, 0);
        connection.received(dataOut, MemorySegment.NULL, fill(dataOut, bytes));
    }

    private MemorySegment fill(Bhs header, int length) throws ProtocolException {
        MemorySegment to = connection.dataDestination(header, MemorySegment.NULL, length);
        if (to.byteSize() != length) {
            throw new AssertionError("no room for " + length + " bytes");
        }
        return to.copyFrom(data);
    }

    /** Ends the connection. */
    void end() {
        steady = false;
        connection.closed(null);
    }

    // --- what the target does ---

    @Override
    public void send(MemorySegment header, MemorySegment segment, Release release) {
        if (!steady) {
            release.release();
            return;
        }
        answer.wrap(header);
        switch (answer.opcode()) {
            case R2t.OPCODE -> {
                r2tItts[r2tCount] = answer.itt();
                r2tTags[r2tCount++] = answer.ttt();
            }
            case DataIn.OPCODE -> ended += (answer.flags() & DataIn.HAS_STATUS) != 0
                    && answer.int8(DataIn.STATUS) == 0 ? 1 : 0;
            case ScsiResponse.OPCODE -> ended += answer.int8(ScsiResponse.STATUS) == 0 ? 1 : 0;
            default -> throw new AssertionError("an answer of opcode " + answer.opcode());
        }
        sent[sentCount++] = release;
    }

    /** Only now are the data gone, as with a network. */
    @Override
    public void flush() {
        for (int i = 0; i < sentCount; i++) {
            sent[i].release();
        }
        sentCount = 0;
    }

    @Override
    public void close() {}

    @Override
    public Timer schedule(Runnable task, long delayMs) { return () -> {}; }
}
