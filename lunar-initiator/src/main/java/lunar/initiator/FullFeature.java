package lunar.initiator;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import lunar.block.AbortedException;
import lunar.iscsi.Bhs;
import lunar.iscsi.DataIn;
import lunar.iscsi.NopIn;
import lunar.iscsi.ProtocolException;
import lunar.iscsi.R2t;
import lunar.iscsi.Reject;
import lunar.iscsi.RejectReason;
import lunar.iscsi.Residual;
import lunar.iscsi.ScsiCommand;
import lunar.iscsi.ScsiResponse;
import lunar.iscsi.SequenceVerdict;
import lunar.iscsi.TargetPdu;
import lunar.scsi.Bytes;
import lunar.scsi.Status;
import org.jspecify.annotations.Nullable;

/**
 * The full feature phase of a connection (RFC 7143 section 4.2.3), on the loop's thread: what tasks are told is here,
 * and read in place; the rest is handed to {@link Control} as records.
 */
final class FullFeature implements Connection.Phase {
    private static final System.Logger LOG = System.getLogger("lunar.initiator");
    private static final ValueLayout.OfShort WIRE_SHORT = ValueLayout.JAVA_SHORT_UNALIGNED
            .withOrder(ByteOrder.BIG_ENDIAN);
    private static final int SENSE_LENGTH_BYTES = 2;
    private static final int ANY_RESIDUAL = ScsiResponse.OVERFLOW | ScsiResponse.UNDERFLOW
            | ScsiResponse.BIDIRECTIONAL_OVERFLOW | ScsiResponse.BIDIRECTIONAL_UNDERFLOW;

    private final Connection connection;
    private final Tasks tasks;
    private final Control control;
    /** Judgement of the Data-In whose data segment is on its way into {@link #dataDestination}. */
    private SequenceVerdict verdict = SequenceVerdict.IN_ORDER;

    FullFeature(Connection connection, Tasks tasks, Control control) {
        this.connection = connection;
        this.tasks = tasks;
        this.control = control;
    }

    @Override
    public MemorySegment dataDestination(Bhs bhs, int length) throws ProtocolException {
        if (bhs.opcode() != DataIn.OPCODE) {
            return MemorySegment.NULL;
        }
        tasks.lock();
        try {
            Command command = tasks.find(bhs.itt());
            if (command == null) {
                return MemorySegment.NULL;
            }
            verdict = judge(command, bhs, length);
            return verdict == SequenceVerdict.IN_ORDER
                    ? Command.slice(command.dataIn, bhs.int32(DataIn.BUFFER_OFFSET), length)
                    : MemorySegment.NULL;
        } finally {
            tasks.unlock();
        }
    }

    private static SequenceVerdict judge(Command command, Bhs bhs, int length)
            throws ProtocolException {
        SequenceVerdict verdict = command.dataInReceiver.accept(bhs.int32(DataIn.DATA_SN),
                bhs.int32(DataIn.BUFFER_OFFSET), length, bhs.isFinal());
        if (verdict == SequenceVerdict.GAP) {
            throw new ProtocolException("a Data-In is missing before DataSN "
                    + Integer.toUnsignedString(bhs.int32(DataIn.DATA_SN))
                    + " (RFC 7143 section 11.7.5)");
        }
        return verdict;
    }

    @Override
    public void received(Bhs bhs, MemorySegment data) throws ProtocolException {
        int opcode = bhs.opcode();
        if (opcode != DataIn.OPCODE && opcode != ScsiResponse.OPCODE && opcode != R2t.OPCODE) {
            control(bhs, data);
            return;
        }
        Command ended;
        tasks.lock();
        try {
            tasks.numbering().update(bhs.int32(TargetPdu.EXP_CMD_SN),
                    bhs.int32(TargetPdu.MAX_CMD_SN));
            ended = switch (opcode) {
                case DataIn.OPCODE -> dataIn(bhs);
                case ScsiResponse.OPCODE -> response(bhs, data);
                default -> {
                    r2t(bhs);
                    yield null;
                }
            };
        } finally {
            tasks.unlock();
        }
        if (ended != null) {
            ended.end();
        }
    }

    /** Judges a StatSN that counts; false for a PDU that has come before. With the lock held. */
    private boolean isNew(int statSn) throws ProtocolException {
        return switch (connection.status().accept(statSn)) {
            case IN_ORDER -> true;
            case DUPLICATE -> false;
            case GAP -> throw new ProtocolException("StatSN " + Integer.toUnsignedString(statSn)
                    + " came, " + Integer.toUnsignedString(connection.expStatSn())
                    + " was expected (RFC 7143 section 4.2.2.2)");
        };
    }

    private @Nullable Command dataIn(Bhs bhs) throws ProtocolException {
        boolean hasStatus = (bhs.flags() & DataIn.HAS_STATUS) != 0;
        if (hasStatus && !bhs.isFinal()) {
            throw new ProtocolException("S of a Data-In without F (RFC 7143 section 11.7.1)");
        }
        if (hasStatus && !isNew(bhs.int32(TargetPdu.STAT_SN))) {
            return null;
        }
        Command command = tasks.find(bhs.itt());
        if (command == null) {
            return unknown(bhs);
        }
        if (bhs.dataSegmentLength() == 0) {
            verdict = judge(command, bhs, 0);
        }
        if (verdict != SequenceVerdict.IN_ORDER || !hasStatus) {
            return null;
        }
        command.status = bhs.int8(DataIn.STATUS);
        if ((bhs.flags() & ANY_RESIDUAL) != 0) {
            command.residual = DataIn.decode(bhs).residual();
        }
        return finish(command, command.dataInReceiver.expDataSn());
    }

    private @Nullable Command response(Bhs bhs, MemorySegment data) throws ProtocolException {
        if (!isNew(bhs.int32(TargetPdu.STAT_SN))) {
            return null;
        }
        Command command = tasks.find(bhs.itt());
        if (command == null) {
            return unknown(bhs);
        }
        command.response = bhs.int8(ScsiResponse.RESPONSE);
        command.status = bhs.int8(ScsiResponse.STATUS);
        if ((bhs.flags() & ANY_RESIDUAL) != 0) {
            ScsiResponse decoded = ScsiResponse.decode(bhs);
            command.residual = decoded.residual();
            command.bidirectionalReadResidual = decoded.bidirectionalReadResidual();
        }
        if (data.byteSize() > SENSE_LENGTH_BYTES) {
            int length = Short.toUnsignedInt(data.get(WIRE_SHORT, 0));
            command.sense = Bytes.of(data.asSlice(SENSE_LENGTH_BYTES,
                    Math.min(length, data.byteSize() - SENSE_LENGTH_BYTES)));
        }
        // Of a command in both directions the target counts its R2T with the Data-In (section 11.4.8).
        return finish(command, command.writes()
                ? command.dataInReceiver.expDataSn()
                : bhs.int32(ScsiResponse.EXP_DATA_SN));
    }

    private @Nullable Command finish(Command command, int expDataSn) throws ProtocolException {
        if (command.response == ScsiResponse.COMPLETED && command.status == Status.GOOD.code()
                && command.reads()) {
            Residual residual = command.writes()
                    ? command.bidirectionalReadResidual
                    : command.residual;
            if (command.dataInReceiver.finish(expDataSn, residual) == SequenceVerdict.GAP) {
                throw new ProtocolException("Data-In are missing at the end of "
                        + tasks.describe(command) + " (RFC 7143 section 11.4.8)");
            }
        }
        return tasks.finish(command) ? command : null;
    }

    private void r2t(Bhs bhs) throws ProtocolException {
        R2t r2t = R2t.decode(bhs);
        Command command = tasks.find(r2t.itt());
        if (command == null) {
            Command _ = unknown(bhs);
            return;
        }
        command.dataOutPlan.answer(r2t.r2tSn(), r2t.bufferOffsetBytes(), r2t.desiredBytes());
        connection.sendDataOut(command, r2t.lun().value(), r2t.ttt());
    }

    private static @Nullable Command unknown(Bhs bhs) {
        LOG.log(System.Logger.Level.DEBUG, "PDU {0}h for task {1}h, which has ended",
                Integer.toHexString(bhs.opcode()), Integer.toHexString(bhs.itt()));
        return null;
    }

    private void control(Bhs bhs, MemorySegment data) throws ProtocolException {
        TargetPdu pdu = TargetPdu.decode(bhs, MemorySegment.NULL);
        tasks.lock();
        try {
            tasks.numbering().update(pdu.expCmdSn(), pdu.maxCmdSn());
            // A NOP-In that answers nothing carries the next StatSN without using it up (section 11.19.4).
            boolean counts = !(pdu.itt() == Bhs.NO_TAG && pdu instanceof NopIn);
            if (counts && !isNew(pdu.statSn())) {
                return;
            }
        } finally {
            tasks.unlock();
        }
        if (pdu instanceof Reject reject) {
            rejected(reject, data);
        } else {
            control.received(pdu, data);
        }
    }

    /** The data segment is the header of ours which the target rejects (RFC 7143 section 11.17). */
    private void rejected(Reject reject, MemorySegment data) throws ProtocolException {
        String why = "rejected by the target: " + RejectReason.describe(reject.reason());
        if (data.byteSize() < Bhs.LENGTH) {
            throw new ProtocolException(why + ", without the header that is rejected");
        }
        Bhs ours = new Bhs().wrap(data);
        RejectReason reason = reject.knownReason().orElse(RejectReason.PROTOCOL_ERROR);
        LOG.log(System.Logger.Level.WARNING, "PDU {0}h of task {1}h {2}",
                Integer.toHexString(ours.opcode()), Integer.toHexString(ours.itt()), why);
        if (ours.opcode() == ScsiCommand.OPCODE) {
            if (reason == RejectReason.DATA_DIGEST_ERROR) {
                // The target has dropped it with its CmdSN, and takes no later command until that comes.
                connection.end(new IOException("a command was " + why));
                return;
            }
            tasks.fail(ours.itt(), new AbortedException("task " + Integer.toHexString(ours.itt())
                    + "h was " + why, null));
        } else {
            // Of Data-Out nothing needs to be done: the target ends the task with a response (section 7.8).
            control.rejected(ours.itt(), new IOException(why));
        }
    }

    @Override
    public void batchEnd() {
        control.heard();
        tasks.startWaiting();
    }

    @Override
    public void closed(@Nullable IOException why) { control.closed(why); }
}
