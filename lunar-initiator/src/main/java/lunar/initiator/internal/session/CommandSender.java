package lunar.initiator.internal.session;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import lunar.iscsi.pdu.Bhs;
import lunar.iscsi.pdu.DataOut;
import lunar.iscsi.pdu.InitiatorPdu;
import lunar.iscsi.pdu.Pdu;
import lunar.iscsi.pdu.ScsiCommand;
import lunar.iscsi.pdu.TaskAttribute;
import lunar.iscsi.spi.Transport;
import lunar.iscsi.transfer.DataOutPlan;
import lunar.scsi.Lun;

/**
 * Encodes the commands of a session and their data, and queues them on a connection: the hot path of sending. Guarded,
 * like its reused header, by the lock of {@link Tasks}.
 */
final class CommandSender {
    private final MemorySegment header = Arena.ofAuto().allocate(Bhs.LENGTH, 64);
    private final Bhs bhs = new Bhs().wrap(header);

    /** Queues a command with its immediate and unsolicited data. */
    void send(Command command, Connection by) {
        boolean reads = command.reads();
        boolean writes = command.writes();
        DataOutPlan plan = command.dataOutPlan;
        plan.pduLimit(by.maxSendBytes()); // limits immediate data
        plan.begin(writes ? command.expectedBytes() : 0);
        command.unsentBursts.clear();
        command.dataInReceiver.begin((int) command.dataIn.byteSize());
        int immediateBytes = writes ? plan.immediateBytes() : 0;
        boolean isFinal = !writes || plan.isCommandFinal();
        MemorySegment data = immediateBytes == 0
                ? MemorySegment.NULL
                : Command.slice(command.dataOut, 0, immediateBytes);
        if (command.cdbLength <= ScsiCommand.CDB_LENGTH && !(reads && writes)) {
            bhs.start(ScsiCommand.OPCODE, false, (isFinal ? 0x80 : 0)
                    | (reads ? ScsiCommand.READ : 0)
                    | (writes || command.saysWrite ? ScsiCommand.WRITE : 0)
                    | TaskAttribute.SIMPLE.code()).lengths(0, immediateBytes)
                    .int64(Pdu.LUN, command.lun).int32(Pdu.ITT, command.itt)
                    .int32(ScsiCommand.EXPECTED_DATA_TRANSFER_LENGTH, command.expectedBytes())
                    .int32(InitiatorPdu.CMD_SN, command.cmdSn)
                    .int32(InitiatorPdu.EXP_STAT_SN, by.expStatSn());
            MemorySegment.copy(command.cdb, 0, header, ScsiCommand.CDB, ScsiCommand.CDB_LENGTH);
            queueCommand(header, data, command, by);
        } else {
            sendExtended(command, data, isFinal, by);
        }
        if (!isFinal) {
            plan.unsolicited();
            sendDataOut(command, command.lun, Bhs.NO_TAG, by);
        }
    }

    /** Queues a command with additional header segments: a long CDB, or data in both directions. */
    private static void sendExtended(Command command, MemorySegment data, boolean isFinal,
            Connection by) {
        boolean both = command.reads() && command.writes();
        var pdu = new ScsiCommand(false, isFinal, command.reads(), command.writes(),
                TaskAttribute.SIMPLE, 0, new Lun(command.lun), command.itt,
                command.expectedBytes(), command.cmdSn, by.expStatSn(),
                command.cdb.asSlice(0, command.cdbLength),
                both ? (int) command.dataIn.byteSize() : 0);
        MemorySegment all = MemorySegment.ofArray(new byte[Bhs.LENGTH + pdu.ahsBytes()]);
        var extended = new Bhs().wrap(all);
        pdu.encode(extended);
        extended.lengths(pdu.ahsBytes(), (int) data.byteSize());
        pdu.encodeAhs(all.asSlice(Bhs.LENGTH));
        queueCommand(all, data, command, by);
    }

    /** Queues the Data-Out of the sequence at which the command's plan stands. */
    void sendDataOut(Command command, long lun, int ttt, Connection by) {
        DataOutPlan plan = command.dataOutPlan;
        plan.pduLimit(by.maxSendBytes());
        while (plan.next()) {
            bhs.start(DataOut.OPCODE, false, plan.isFinal() ? 0x80 : 0).lengths(0, plan.length())
                    .int64(Pdu.LUN, lun).int32(Pdu.ITT, command.itt).int32(Pdu.TTT, ttt)
                    .int32(InitiatorPdu.EXP_STAT_SN, by.expStatSn())
                    .int32(DataOut.DATA_SN, plan.dataSn())
                    .int32(DataOut.BUFFER_OFFSET, plan.offset());
            queue(header, Command.slice(command.dataOut, plan.offset(), plan.length()), command,
                    by);
        }
    }

    private static void queueCommand(MemorySegment headers, MemorySegment data, Command command,
            Connection by) {
        if (by.placesData() && (command.reads() || command.writes())) {
            command.pendingTransfers++;
            by.sendCommand(headers, data, command);
        } else {
            queue(headers, data, command, by);
        }
    }

    private static void queue(MemorySegment headers, MemorySegment data, Command command,
            Connection by) {
        if (data.byteSize() == 0) {
            by.send(headers, data, Transport.Release.NOTHING);
        } else {
            command.pendingTransfers++;
            by.send(headers, data, command);
        }
    }
}
