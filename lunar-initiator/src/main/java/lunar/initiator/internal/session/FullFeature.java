package lunar.initiator.internal.session;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import lunar.block.AbortedException;
import lunar.initiator.SessionNotice;
import lunar.initiator.internal.retry.SenseMapping;
import lunar.iscsi.ProtocolException;
import lunar.iscsi.SerialNumbers;
import lunar.iscsi.pdu.Bhs;
import lunar.iscsi.pdu.DataIn;
import lunar.iscsi.pdu.NopIn;
import lunar.iscsi.pdu.Pdu;
import lunar.iscsi.pdu.R2t;
import lunar.iscsi.pdu.Reject;
import lunar.iscsi.pdu.RejectReason;
import lunar.iscsi.pdu.Residual;
import lunar.iscsi.pdu.ScsiCommand;
import lunar.iscsi.pdu.ScsiResponse;
import lunar.iscsi.pdu.SnackRequest;
import lunar.iscsi.pdu.SnackType;
import lunar.iscsi.pdu.TargetPdu;
import lunar.iscsi.session.SequenceVerdict;
import lunar.scsi.AdditionalSense;
import lunar.scsi.Bytes;
import lunar.scsi.Lun;
import lunar.scsi.Sense;
import lunar.scsi.SenseKey;
import lunar.scsi.Status;
import org.jspecify.annotations.Nullable;

/**
 * The full feature phase of a connection (RFC 7143 section 4.2.3), on the event loop's thread: PDUs of SCSI tasks are
 * handled here and read in place; others are passed on as records.
 */
final class FullFeature implements Connection.Phase {
    private static final System.Logger LOG = System.getLogger("lunar.initiator");
    private static final ValueLayout.OfShort WIRE_SHORT = ValueLayout.JAVA_SHORT_UNALIGNED
            .withOrder(ByteOrder.BIG_ENDIAN);
    private static final int SENSE_LENGTH_BYTES = 2;
    private static final int ANY_RESIDUAL = ScsiResponse.OVERFLOW | ScsiResponse.UNDERFLOW
            | ScsiResponse.BIDIRECTIONAL_OVERFLOW | ScsiResponse.BIDIRECTIONAL_UNDERFLOW;

    /** The session above a connection: takes everything that does not belong to a SCSI task. */
    interface Upper {
        /** Pings the target, which has been silent. */
        void ping(Connection connection);

        /** Handles a PDU other than those of SCSI tasks. */
        void received(Connection by, TargetPdu pdu, MemorySegment data) throws ProtocolException;

        /** Takes the rejection of a request other than a SCSI command. */
        void rejected(Connection by, int itt, IOException why);

        /** Takes a unit attention from the answer to a command. */
        void attention(long lun, AdditionalSense attention);

        void tell(SessionNotice notice);

        /** @param why null where this end closed the connection in order */
        void closed(FullFeature ended, @Nullable IOException why);
    }

    private final Connection connection;
    private final Tasks tasks;
    private final Allegiance allegiance;
    private final ResetWatch resets;
    private final Upper upper;
    private final boolean recovers;
    /** Verdict on the Data-In with the data segment that goes into {@link #dataDestination}. */
    private SequenceVerdict verdict = SequenceVerdict.IN_ORDER;

    /**
     * The command with the buffer into which the transport is writing a Data-In. Where it ends meanwhile, since an
     * answer on another connection has reported its task aborted, its owner gets the buffer back after that.
     */
    private @Nullable Command landing;
    /** Deadline of an ended command that waits for the rest of its Data-In; 0 where none waits. */
    private long landingUntilMs;

    /** Time of the last PDU from the target, and whether the target has been pinged since. */
    private long heardMs;
    private boolean pinged;
    /** A unit attention in the answer that is being received, and its unit. */
    private @Nullable AdditionalSense attention;
    private long attentionLun;
    /** Whether SNACKs are queued, to be sent once the lock is free, and whether too many of them wait already. */
    private boolean hasSnacks;
    private boolean hasTooManySnacks;
    /** The target has violated the protocol in a PDU that was handled later: the connection is about to end. */
    private boolean isBroken;

    /** @param recoveryLevel ErrorRecoveryLevel; from 1 on, PDUs lost within the connection are requested again */
    FullFeature(Connection connection, Tasks tasks, Allegiance allegiance, ResetWatch resets,
            Upper upper, int recoveryLevel) {
        this.connection = connection;
        this.tasks = tasks;
        this.allegiance = allegiance;
        this.resets = resets;
        this.upper = upper;
        recovers = recoveryLevel > 0;
        heardMs = connection.loop().nowMs();
    }

    Connection connection() { return connection; }

    /** Called by the clock: pings a target that has been silent for too long, and gives up one that stays so. */
    void tick(long nowMs, int keepAliveMs) {
        if (nowMs - heardMs >= keepAliveMs) {
            ping();
        }
        Command late = landing;
        if (late == null || late.state != Command.State.RELEASING) {
            landingUntilMs = 0;
        } else if (landingUntilMs == 0) {
            landingUntilMs = nowMs + keepAliveMs;
        } else if (nowMs >= landingUntilMs) {
            connection.end(new IOException("the rest of a Data-In of an aborted task did not arrive"
                    + " within " + keepAliveMs + " ms"));
        }
    }

    /** Pings the target, unless that has been done since its last PDU. */
    void ping() {
        if (!pinged) {
            pinged = true;
            upper.ping(connection);
        }
    }

    @Override
    public MemorySegment dataDestination(Bhs bhs, int length) throws ProtocolException {
        tasks.batchBegins();
        if (bhs.opcode() != DataIn.OPCODE) {
            return MemorySegment.NULL;
        }
        tasks.lock();
        try {
            Command command = tasks.find(connection, bhs.itt());
            if (command == null) {
                return MemorySegment.NULL;
            }
            verdict = judge(command, bhs, length);
            if (verdict != SequenceVerdict.IN_ORDER) {
                return MemorySegment.NULL;
            }
            command.pendingTransfers++;
            landing = command;
            return Command.slice(command.dataIn, bhs.int32(DataIn.BUFFER_OFFSET), length);
        } finally {
            tasks.unlock();
        }
    }

    /** Called once the transport writes into no buffer any longer. Returns the command that ends by that; lock held. */
    private @Nullable Command landed() {
        Command command = landing;
        landing = null;
        return command != null && tasks.letGo(command) ? command : null;
    }

    private SequenceVerdict judge(Command command, Bhs bhs, int length)
            throws ProtocolException {
        SequenceVerdict judged = command.dataInReceiver.judge(bhs.int32(DataIn.DATA_SN),
                bhs.int32(DataIn.BUFFER_OFFSET), length);
        if (judged == SequenceVerdict.GAP && !recovers) {
            throw new ProtocolException("a Data-In is missing before DataSN "
                    + Integer.toUnsignedString(bhs.int32(DataIn.DATA_SN))
                    + " (RFC 7143 section 11.7.5)");
        }
        return judged;
    }

    @Override
    public void received(Bhs bhs, MemorySegment data) throws ProtocolException {
        tasks.batchBegins();
        int opcode = bhs.opcode();
        if (opcode != DataIn.OPCODE && opcode != ScsiResponse.OPCODE && opcode != R2t.OPCODE) {
            control(bhs, data);
            return;
        }
        if (connection.placesData() && opcode != ScsiResponse.OPCODE) {
            throw new ProtocolException("PDU " + Integer.toHexString(opcode)
                    + "h over a transport that places data (RFC 7145 section 7.3)");
        }
        Command ended;
        tasks.lock();
        try {
            tasks.numbering().update(bhs.int32(TargetPdu.EXP_CMD_SN),
                    bhs.int32(TargetPdu.MAX_CMD_SN));
            ended = switch (opcode) {
                case DataIn.OPCODE -> {
                    Command done = dataIn(bhs);
                    Command landed = landed(); // last: if the above throws, the end of the connection does this
                    yield done == null ? landed : done;
                }
                case ScsiResponse.OPCODE -> response(bhs, data);
                default -> {
                    r2t(bhs);
                    yield null;
                }
            };
        } finally {
            tasks.unlock();
        }
        AdditionalSense told = attention;
        if (told != null) {
            attention = null;
            upper.attention(attentionLun, told); // before the command ends: its owner may send it again
        }
        if (ended != null) {
            tasks.complete(ended);
        }
        sendSnacks();
    }

    /** Takes a StatSN that counts, and requests the missing ones before it. With the lock held. */
    private void note(int statSn) throws ProtocolException {
        int first = connection.status().nextStatSn();
        int missing = connection.status().note(statSn);
        if (missing > 0) {
            if (!recovers) {
                throw new ProtocolException("StatSN " + Integer.toUnsignedString(statSn)
                        + " received, " + Integer.toUnsignedString(first)
                        + " expected (RFC 7143 section 4.2.2.2)");
            }
            askForStatus(first, missing);
        }
    }

    /** Whether a StatSN that counts is new; false for a PDU that has come before. With the lock held. */
    private boolean isNew(int statSn) throws ProtocolException {
        note(statSn);
        return connection.status().take(statSn);
    }

    private @Nullable Command dataIn(Bhs bhs) throws ProtocolException {
        boolean hasStatus = (bhs.flags() & DataIn.HAS_STATUS) != 0;
        if (hasStatus && !bhs.isFinal()) {
            throw new ProtocolException("S of a Data-In without F (RFC 7143 section 11.7.1)");
        }
        int statSn = bhs.int32(TargetPdu.STAT_SN);
        Command command = tasks.find(connection, bhs.itt());
        if (command == null) {
            boolean _ = hasStatus && isNew(statSn);
            return unknown(bhs);
        }
        if (hasStatus) {
            note(statSn);
        }
        command.heard = true;
        int length = bhs.dataSegmentLength();
        if (length == 0) {
            verdict = judge(command, bhs, 0);
        }
        switch (verdict) {
            case IN_ORDER -> {
                command.dataInReceiver.take(bhs.int32(DataIn.BUFFER_OFFSET), length, bhs.isFinal());
                if (recovers && !hasStatus && (bhs.flags() & DataIn.ACKNOWLEDGE) != 0) {
                    acknowledge(command, bhs);
                }
            }
            case GAP -> {
                askForData(command, false);
                return null; // and its status counts when it comes again
            }
            case DUPLICATE -> {
                if (!recovers) {
                    boolean _ = hasStatus && connection.status().take(statSn);
                    return null;
                }
            }
        }
        if (hasStatus) {
            if (!connection.status().take(statSn)) {
                return null;
            }
            command.status = bhs.int8(DataIn.STATUS);
            if ((bhs.flags() & ANY_RESIDUAL) != 0) {
                command.residual = DataIn.decode(bhs).residual();
            }
            return finish(command, command.dataInReceiver.expDataSn());
        }
        return command.statusHeld && !SerialNumbers.lessThan(command.dataInReceiver.expDataSn(),
                command.heldExpDataSn) && connection.status().take(command.heldStatSn)
                        ? finish(command, command.heldExpDataSn)
                        : null;
    }

    private @Nullable Command response(Bhs bhs, MemorySegment data) throws ProtocolException {
        int statSn = bhs.int32(TargetPdu.STAT_SN);
        note(statSn);
        Command command = tasks.find(connection, bhs.itt());
        if (command == null) {
            boolean _ = connection.status().take(statSn);
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
            resets.heard(command.lun, command.sense);
            if (command.sense.length() > 0) {
                Sense sense = SenseMapping.sense(command.sense);
                attention = sense.key() == SenseKey.UNIT_ATTENTION ? sense.additional() : null;
                attentionLun = command.lun;
            }
        }
        // Of a command in both directions the target counts its R2T with the Data-In (section 11.4.8).
        int expDataSn = command.writes()
                ? command.dataInReceiver.expDataSn()
                : bhs.int32(ScsiResponse.EXP_DATA_SN);
        if (recovers && hasSucceeded(command) && command.reads() && SerialNumbers
                .lessThan(command.dataInReceiver.expDataSn(), expDataSn)) {
            // Not to be acknowledged before its data have come (section 7.9).
            command.statusHeld = true;
            command.heldStatSn = statSn;
            command.heldExpDataSn = expDataSn;
            askForData(command, false);
            return null;
        }
        return connection.status().take(statSn) ? finish(command, expDataSn) : null;
    }

    /** Whether the command has succeeded; also after a recovered error, where the data count, too. */
    private static boolean hasSucceeded(Command command) {
        return command.response == ScsiResponse.COMPLETED
                && SenseMapping.isSuccess(command.status, command.sense);
    }

    private static boolean isGood(Command command) {
        return command.response == ScsiResponse.COMPLETED
                && command.status == Status.GOOD.code();
    }

    private @Nullable Command finish(Command command, int expDataSn) throws ProtocolException {
        if (connection.placesData()) {
            command.notePlaced();
            return tasks.finish(command) ? command : null;
        }
        if (isGood(command) && command.reads()) {
            Residual residual = command.writes()
                    ? command.bidirectionalReadResidual
                    : command.residual;
            if (command.dataInReceiver.finish(expDataSn, residual) == SequenceVerdict.GAP) {
                throw new ProtocolException("Data-In are missing at the end of "
                        + tasks.describe(command) + " (RFC 7143 section 11.4.8)");
            }
        }
        command.noteMissing();
        return tasks.finish(command) ? command : null;
    }

    private void r2t(Bhs bhs) throws ProtocolException {
        R2t r2t = R2t.decode(bhs);
        Command command = tasks.find(connection, r2t.itt());
        if (command == null) {
            Command _ = unknown(bhs);
            return;
        }
        command.heard = true;
        command.dataOutPlan.answer(r2t.r2tSn(), r2t.bufferOffsetBytes(), r2t.desiredBytes());
        command.dataInReceiver.numbered(r2t.r2tSn());
        tasks.answer(command, r2t, connection);
        if (!command.unsentBursts.add(connection.queuedBytes(), connection.sentBytes())) {
            throw new ProtocolException("R2TSN " + Integer.toUnsignedString(r2t.r2tSn())
                    + " while earlier R2Ts are unanswered: more are outstanding than"
                    + " MaxOutstandingR2T allows (RFC 7143 section 13.17)");
        }
    }

    private static @Nullable Command unknown(Bhs bhs) {
        LOG.log(System.Logger.Level.DEBUG, "PDU {0}h for task {1}h, which has ended",
                Integer.toHexString(bhs.opcode()), Integer.toHexString(bhs.itt()));
        return null;
    }

    /** A NOP-In that answers nothing carries the next StatSN without using it up (section 11.19.4). */
    private static boolean counts(Bhs bhs) {
        return bhs.opcode() != R2t.OPCODE
                && !(bhs.opcode() == NopIn.OPCODE && bhs.itt() == Bhs.NO_TAG);
    }

    private void control(Bhs bhs, MemorySegment data) throws ProtocolException {
        TargetPdu pdu = TargetPdu.decode(bhs, MemorySegment.NULL);
        boolean isDuplicate;
        tasks.lock();
        try {
            tasks.numbering().update(pdu.expCmdSn(), pdu.maxCmdSn());
            isDuplicate = counts(bhs) && !isNew(pdu.statSn());
        } finally {
            tasks.unlock();
        }
        sendSnacks();
        if (isDuplicate) {
            return;
        }
        if (connection.loop().isLent()) {
            MemorySegment kept = MemorySegment.ofArray(data.toArray(ValueLayout.JAVA_BYTE));
            connection.loop().execute(() -> later(pdu, kept));
        } else {
            handle(pdu, data);
        }
    }

    private void handle(TargetPdu pdu, MemorySegment data) throws ProtocolException {
        if (pdu instanceof Reject reject) {
            rejected(reject, data);
        } else {
            upper.received(connection, pdu, data);
        }
    }

    /** Handles, on the event loop's own thread, a PDU that a guest of the loop has received. */
    private void later(TargetPdu pdu, MemorySegment data) {
        try {
            if (connection.isOpen() && !isBroken) {
                handle(pdu, data);
            }
        } catch (ProtocolException e) {
            isBroken = true;
            connection.end(e);
        }
    }

    // --- recovery within the connection (RFC 7143 section 7.1.4.2); with the lock held ---

    @Override
    public void damaged(Bhs bhs) throws ProtocolException {
        if (!recovers) {
            throw connection.damage(bhs);
        }
        tasks.batchBegins();
        Command ended;
        tasks.lock();
        try {
            if (bhs.opcode() == DataIn.OPCODE) {
                if ((bhs.flags() & DataIn.HAS_STATUS) != 0) {
                    note(bhs.int32(TargetPdu.STAT_SN));
                }
                Command command = tasks.find(connection, bhs.itt());
                if (command != null) {
                    askForData(command, true);
                }
            } else if (counts(bhs)) {
                int statSn = bhs.int32(TargetPdu.STAT_SN);
                note(statSn);
                askForStatus(statSn, 1);
            }
            ended = landed();
        } finally {
            tasks.unlock();
        }
        if (ended != null) {
            tasks.complete(ended);
        }
        sendSnacks();
    }

    /**
     * Requests the data of a command again from the first missing PDU on; later PDUs were discarded.
     *
     * @param always request even if the same data was requested before
     */
    private void askForData(Command command, boolean always) throws ProtocolException {
        int first = command.dataInReceiver.expDataSn();
        if (command.askedDataSn == first && !always) {
            return;
        }
        command.askedDataSn = first;
        if (command.snacks++ >= Command.MAX_SNACKS) {
            throw new ProtocolException("data of " + tasks.describe(command) + " was requested "
                    + Command.MAX_SNACKS + " times");
        }
        again(new SnackRequest(SnackType.DATA_R2T, Lun.ZERO, command.itt, Bhs.NO_TAG,
                connection.expStatSn(), first, 0),
                "data of " + tasks.describe(command) + " from DataSN " + first);
    }

    private void askForStatus(int first, int count) {
        again(new SnackRequest(SnackType.STATUS, Lun.ZERO, Bhs.NO_TAG, Bhs.NO_TAG,
                connection.expStatSn(), first, count),
                "StatSN " + Integer.toUnsignedString(first)
                        + " and " + (count - 1) + " after it");
    }

    private void again(SnackRequest snack, String what) {
        queue(snack);
        upper.tell(new SessionNotice.AskedAgain(connection.cid(), what));
    }

    /** Acknowledges the data so far (section 11.7.2). Data before a status are acknowledged by ExpStatSN. */
    private void acknowledge(Command command, Bhs bhs) {
        queue(new SnackRequest(SnackType.DATA_ACK, new Lun(bhs.lun()), Bhs.NO_TAG,
                bhs.int32(Pdu.TTT), connection.expStatSn(), command.dataInReceiver.expDataSn(),
                0));
    }

    private void queue(SnackRequest snack) {
        connection.send(snack, MemorySegment.NULL);
        hasSnacks = true;
        hasTooManySnacks |= !isCounted();
    }

    private boolean isCounted() {
        return connection.unsentSnacks.add(connection.queuedBytes(), connection.sentBytes());
    }

    /**
     * Sends queued SNACKs, unless the target keeps causing more without receiving them. Runs without the lock: other
     * requests may end while the network accepts their data.
     */
    private void sendSnacks() throws ProtocolException {
        if (!hasSnacks) {
            return;
        }
        hasSnacks = false;
        if (!hasTooManySnacks) {
            tasks.flush(connection);
            return;
        }
        hasTooManySnacks = false;
        connection.flush(); // those of one batch have not been sent
        boolean isTaken;
        tasks.lock();
        try {
            isTaken = isCounted();
        } finally {
            tasks.unlock();
        }
        if (!isTaken) {
            throw new ProtocolException("the target causes more than "
                    + Connection.MAX_UNSENT_SNACKS + " SNACKs without receiving them");
        }
    }

    /** Handles a Reject; its data segment is the header of the rejected PDU (RFC 7143 section 11.17). */
    private void rejected(Reject reject, MemorySegment data) throws ProtocolException {
        String why = "rejected by the target: " + RejectReason.describe(reject.reason());
        if (data.byteSize() < Bhs.LENGTH) {
            throw new ProtocolException(why + ", without the rejected header");
        }
        Bhs ours = new Bhs().wrap(data);
        RejectReason reason = reject.knownReason().orElse(RejectReason.PROTOCOL_ERROR);
        LOG.log(System.Logger.Level.WARNING, "PDU {0}h of task {1}h {2}",
                Integer.toHexString(ours.opcode()), Integer.toHexString(ours.itt()), why);
        if (ours.opcode() == ScsiCommand.OPCODE) {
            if (reason == RejectReason.DATA_DIGEST_ERROR) {
                // The target has dropped it with its CmdSN, and accepts no later command until it arrives.
                if (!recovers || connection.placesData() // such a transport has no digests
                        || !allegiance.retry(connection, ours.itt())) {
                    connection.end(new IOException("a command was " + why));
                }
                return;
            }
            tasks.fail(connection, ours.itt(),
                    new AbortedException("task " + Integer.toHexString(ours.itt())
                            + "h was " + why, null));
        } else if (ours.opcode() == SnackRequest.OPCODE) {
            // the lost PDUs cannot be recovered on this connection
            connection.end(new IOException("a SNACK was " + why));
        } else {
            // Rejected Data-Out needs no action: the target ends the task with a response (section 7.8).
            upper.rejected(connection, ours.itt(), new IOException(why));
        }
    }

    @Override
    public void batchEnd() {
        heardMs = connection.loop().nowMs();
        pinged = false;
        tasks.batchEnds();
    }

    @Override
    public void closed(@Nullable IOException why) {
        tasks.batchEnds();
        Command ended;
        tasks.lock();
        try {
            ended = landed();
        } finally {
            tasks.unlock();
        }
        if (ended != null) {
            tasks.complete(ended);
        }
        upper.closed(this, why);
    }
}
