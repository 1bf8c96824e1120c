package lunar.initiator;

import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import lunar.iscsi.pdu.Bhs;
import lunar.iscsi.pdu.DataIn;
import lunar.iscsi.pdu.DataOut;
import lunar.iscsi.pdu.InitiatorPdu;
import lunar.iscsi.pdu.LogoutRequest;
import lunar.iscsi.pdu.LogoutResponse;
import lunar.iscsi.pdu.NopIn;
import lunar.iscsi.pdu.NopOut;
import lunar.iscsi.pdu.R2t;
import lunar.iscsi.pdu.Residual;
import lunar.iscsi.pdu.ScsiCommand;
import lunar.iscsi.pdu.ScsiResponse;
import lunar.iscsi.pdu.TaskManagementRequest;
import lunar.iscsi.pdu.TaskManagementResponse;
import lunar.iscsi.pdu.TaskManagementResponseCode;
import lunar.scsi.AdditionalSense;
import lunar.scsi.Cdb;
import lunar.scsi.Lun;
import lunar.scsi.ParameterData;
import lunar.scsi.Sense;
import lunar.scsi.SenseKey;
import lunar.scsi.Status;
import lunar.scsi.block.CapacityData16;
import lunar.scsi.block.ReadBlocks;
import lunar.scsi.block.ReadCapacity16;
import lunar.scsi.block.SynchronizeCache;
import lunar.scsi.block.WriteBlocks;
import lunar.scsi.command.CdbDecoder;
import lunar.scsi.primary.LunList;
import lunar.scsi.primary.ReportLuns;
import lunar.scsi.primary.TestUnitReady;
import lunar.scsi.vpd.Inquiry;
import lunar.scsi.vpd.StandardInquiry;
import lunar.testkit.ScriptedPeer;

/** LUN 0 of a scripted target: a small memory disk that can misbehave at a given command. */
final class ScriptedDisk {
    static final int BLOCK_SIZE = 512;
    static final int BLOCK_COUNT = 256;
    private static final int MAX_SEGMENT = 8192;

    /** Handles a command in place of the disk; returns whether it did. */
    @FunctionalInterface
    interface Hook {
        boolean handled(ScriptedPeer peer, ScsiCommand command, Cdb cdb) throws Exception;
    }

    private final byte[] blocks = new byte[BLOCK_COUNT * BLOCK_SIZE];
    private int nextTag = 1;

    byte[] blocks() { return blocks; }

    /** Logs the initiator in and serves it until it logs out. */
    void serve(ScriptedPeer peer, Hook hook) throws Exception {
        peer.login();
        serveLoggedIn(peer, hook);
    }

    void serve(ScriptedPeer peer) throws Exception { serve(peer, (_, _, _) -> false); }

    void serveLoggedIn(ScriptedPeer peer, Hook hook) throws Exception {
        while (true) {
            InitiatorPdu pdu = peer.receive();
            switch (pdu) {
                case ScsiCommand command -> {
                    Cdb cdb = CdbDecoder.decode(command.cdb());
                    if (!hook.handled(peer, command, cdb)) {
                        answer(peer, command, cdb);
                    }
                }
                case NopOut nop when nop.isPing() -> peer.send(new NopIn(Lun.ZERO, nop.itt(),
                        Bhs.NO_TAG, peer.statSn(), peer.expCmdSn(), peer.maxCmdSn()));
                case NopOut _ -> {
                    // the acknowledgement of a message, which has no answer
                }
                case TaskManagementRequest manage -> peer.send(new TaskManagementResponse(
                        TaskManagementResponseCode.FUNCTION_COMPLETE.code(), 0, manage.itt(),
                        peer.statSn(), peer.expCmdSn(), peer.maxCmdSn()));
                case LogoutRequest logout -> {
                    peer.send(new LogoutResponse(0, logout.itt(), peer.statSn(), peer.expCmdSn(),
                            peer.maxCmdSn(), 0, 0));
                    peer.awaitEnd();
                    return;
                }
                default -> throw new AssertionError("a disk has no use for " + pdu);
            }
        }
    }

    private void answer(ScriptedPeer peer, ScsiCommand command, Cdb cdb) throws IOException {
        switch (cdb) {
            case ReadBlocks read -> {
                int at = (int) read.lba() * BLOCK_SIZE;
                dataIn(peer, command, Arrays.copyOfRange(blocks, at,
                        at + (int) read.blockCount() * BLOCK_SIZE));
            }
            case WriteBlocks write -> {
                byte[] data = receiveWrite(peer, command);
                System.arraycopy(data, 0, blocks, (int) write.lba() * BLOCK_SIZE, data.length);
                status(peer, command, Status.GOOD);
            }
            case TestUnitReady _,SynchronizeCache _ -> status(peer, command, Status.GOOD);
            case Inquiry inquiry when !inquiry.evpd() -> data(peer, command,
                    StandardInquiry.disk("LUNAR", "SCRIPTED", "1"), inquiry.allocationLength());
            case ReportLuns luns -> data(peer, command, new LunList(List.of(Lun.ZERO)),
                    luns.allocationLength());
            case ReadCapacity16 capacity -> data(peer, command, new CapacityData16(BLOCK_COUNT - 1,
                    BLOCK_SIZE, 0, 0, false, false, 0), capacity.allocationLength());
            default -> sense(peer, command, Sense.of(SenseKey.ILLEGAL_REQUEST,
                    AdditionalSense.INVALID_COMMAND_OPERATION_CODE));
        }
    }

    static void data(ScriptedPeer peer, ScsiCommand command, ParameterData data,
            long allocationLength) throws IOException {
        byte[] bytes = data.bytes();
        dataIn(peer, command,
                Arrays.copyOf(bytes, (int) Math.min(bytes.length, allocationLength)));
    }

    /** Data-In with the status in the last one. */
    static void dataIn(ScriptedPeer peer, ScsiCommand command, byte[] data) throws IOException {
        int dataSn = 0;
        for (int at = 0; at < data.length; at += MAX_SEGMENT) {
            int length = Math.min(MAX_SEGMENT, data.length - at);
            boolean last = at + length == data.length;
            peer.send(new DataIn(last, false, last, 0,
                    last
                            ? Residual.of(command.expectedDataTransferBytes(), data.length)
                            : Residual.NONE,
                    command.lun(), command.itt(), Bhs.NO_TAG, last ? peer.statSn() : 0,
                    peer.expCmdSn(), peer.maxCmdSn(), dataSn++, at),
                    Arrays.copyOfRange(data, at, at + length));
        }
    }

    /** Data of a write: what came with the command, the rest asked for by R2T. */
    byte[] receiveWrite(ScriptedPeer peer, ScsiCommand command) throws IOException {
        byte[] data = new byte[command.expectedDataTransferBytes()];
        byte[] immediate = peer.data();
        System.arraycopy(immediate, 0, data, 0, immediate.length);
        int have = immediate.length;
        for (int r2tSn = 0; have < data.length; r2tSn++) {
            int wanted = Math.min(16_384, data.length - have);
            peer.send(r2t(peer, command, r2tSn, have, wanted));
            int end = have + wanted;
            while (have < end) {
                DataOut out = peer.receive(DataOut.class);
                byte[] part = peer.data();
                System.arraycopy(part, 0, data, out.bufferOffsetBytes(), part.length);
                have += part.length;
            }
        }
        return data;
    }

    R2t r2t(ScriptedPeer peer, ScsiCommand command, int r2tSn, int offset, int length) {
        return new R2t(command.lun(), command.itt(), nextTag++, peer.nextStatSn(),
                peer.expCmdSn(), peer.maxCmdSn(), r2tSn, offset, length);
    }

    static void status(ScriptedPeer peer, ScsiCommand command, Status status) throws IOException {
        status(peer, command, status, Optional.empty());
    }

    static void sense(ScriptedPeer peer, ScsiCommand command, Sense sense) throws IOException {
        status(peer, command, Status.CHECK_CONDITION, Optional.of(sense));
    }

    private static void status(ScriptedPeer peer, ScsiCommand command, Status status,
            Optional<Sense> sense) throws IOException {
        byte[] data = sense.map(each -> withLength(each.encodeFixed())).orElse(new byte[0]);
        // The commands with data which are refused here transfer none of them.
        Residual residual = status == Status.GOOD
                ? Residual.NONE
                : Residual.of(command.expectedDataTransferBytes(), 0);
        peer.send(new ScsiResponse(ScsiResponse.COMPLETED, status.code(), 0, residual,
                Residual.NONE, command.itt(), 0, peer.statSn(), peer.expCmdSn(), peer.maxCmdSn(),
                0), data);
    }

    private static byte[] withLength(byte[] sense) {
        byte[] bytes = new byte[2 + sense.length];
        bytes[1] = (byte) sense.length;
        System.arraycopy(sense, 0, bytes, 2, sense.length);
        return bytes;
    }
}
