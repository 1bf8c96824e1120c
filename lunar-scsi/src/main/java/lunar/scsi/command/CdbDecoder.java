package lunar.scsi.command;

import java.lang.foreign.MemorySegment;
import lunar.scsi.Cdb;
import lunar.scsi.CdbForm;
import lunar.scsi.InvalidCdbException;
import lunar.scsi.block.BlockCdb;
import lunar.scsi.block.CompareAndWrite;
import lunar.scsi.block.FormatUnit;
import lunar.scsi.block.GetLbaStatus;
import lunar.scsi.block.OrWrite;
import lunar.scsi.block.PreFetch;
import lunar.scsi.block.PreventAllowMediumRemoval;
import lunar.scsi.block.ReadBlocks;
import lunar.scsi.block.ReadCapacity10;
import lunar.scsi.block.ReadCapacity16;
import lunar.scsi.block.ReadDefectData;
import lunar.scsi.block.Sanitize;
import lunar.scsi.block.StartStopUnit;
import lunar.scsi.block.SynchronizeCache;
import lunar.scsi.block.Unmap;
import lunar.scsi.block.VerifyBlocks;
import lunar.scsi.block.WriteAndVerify;
import lunar.scsi.block.WriteAtomic;
import lunar.scsi.block.WriteBlocks;
import lunar.scsi.block.WriteSame;
import lunar.scsi.copy.ExtendedCopy;
import lunar.scsi.copy.ReceiveCopyResults;
import lunar.scsi.log.LogSelect;
import lunar.scsi.log.LogSense;
import lunar.scsi.mode.ModeSelect;
import lunar.scsi.mode.ModeSense;
import lunar.scsi.primary.ReadBuffer;
import lunar.scsi.primary.ReceiveDiagnosticResults;
import lunar.scsi.primary.ReportIdentifyingInformation;
import lunar.scsi.primary.ReportLuns;
import lunar.scsi.primary.ReportTargetPortGroups;
import lunar.scsi.primary.ReportTimestamp;
import lunar.scsi.primary.RequestSense;
import lunar.scsi.primary.SendDiagnostic;
import lunar.scsi.primary.SetIdentifyingInformation;
import lunar.scsi.primary.SetTargetPortGroups;
import lunar.scsi.primary.SetTimestamp;
import lunar.scsi.primary.TestUnitReady;
import lunar.scsi.primary.WriteBuffer;
import lunar.scsi.reservation.PersistentReserveIn;
import lunar.scsi.reservation.PersistentReserveOut;
import lunar.scsi.reservation.Release;
import lunar.scsi.reservation.Reserve;
import lunar.scsi.vpd.Inquiry;
import lunar.scsi.wire.BigEndian;
import lunar.scsi.wire.CdbFields;

/** Reads the CDBs of this module: from the operation code, and for some the service action, to the record. */
public final class CdbDecoder {
    /** Most significant bit of SERVICE ACTION in byte 1. */
    private static final int SERVICE_ACTION_BIT = 4;

    private CdbDecoder() {}

    /**
     * Reads a CDB; bytes behind its end are ignored.
     *
     * @throws InvalidCdbException with the sense data to answer: 20h/00h for an operation code that is not known,
     *         24h/00h with a field pointer for a service action that is not known, for NACA, for a CDB which is
     *         cut, and for a field that no device could take
     */
    public static Cdb decode(MemorySegment cdb) throws InvalidCdbException {
        if (cdb.byteSize() == 0) {
            throw InvalidCdbException.field(0);
        }
        int opcode = BigEndian.int8(cdb, 0);
        CdbForm form = switch (opcode >> 5) {
            case 0 -> CdbForm.CDB6;
            case 1, 2 -> CdbForm.CDB10;
            case 4 -> CdbForm.CDB16;
            case 5 -> CdbForm.CDB12;
            default -> throw InvalidCdbException.operationCode();
        };
        // An operation code that is not known is told as such, whatever else is wrong.
        Cdb known = cdb.byteSize() < form.length()
                ? decodeCut(cdb, form)
                : decode(opcode, form, cdb);
        int control = form.length() - 1;
        if (BigEndian.bit(cdb, control, BlockCdb.NACA_BIT)) {
            throw InvalidCdbException.field(control, BlockCdb.NACA_BIT);
        }
        return known;
    }

    /** A cut CDB has no valid reading; the first missing byte is the one in error. */
    private static Cdb decodeCut(MemorySegment cdb, CdbForm form) throws InvalidCdbException {
        var padded = MemorySegment.ofArray(new byte[form.length()]);
        MemorySegment.copy(cdb, 0, padded, 0, cdb.byteSize());
        decode(BigEndian.int8(cdb, 0), form, padded);
        throw InvalidCdbException.field((int) cdb.byteSize());
    }

    private static Cdb decode(int opcode, CdbForm form, MemorySegment cdb)
            throws InvalidCdbException {
        return switch (opcode) {
            case BlockCdb.READ_6, BlockCdb.READ_10, BlockCdb.READ_12, BlockCdb.READ_16 -> ReadBlocks
                    .decode(form, cdb);
            case BlockCdb.WRITE_6, BlockCdb.WRITE_10, BlockCdb.WRITE_12, BlockCdb.WRITE_16 ->
                WriteBlocks
                        .decode(form, cdb);
            case TestUnitReady.OPCODE -> new TestUnitReady();
            case RequestSense.OPCODE -> RequestSense.decode(cdb);
            case Inquiry.OPCODE -> Inquiry.decode(cdb);
            case ReadCapacity10.OPCODE -> new ReadCapacity10();
            case ReportLuns.OPCODE -> ReportLuns.decode(cdb);
            case ModeSense.SENSE_6, ModeSense.SENSE_10 -> ModeSense.decode(form, cdb);
            case ModeSelect.SELECT_6, ModeSelect.SELECT_10 -> ModeSelect.decode(form, cdb);
            case SynchronizeCache.SYNCHRONIZE_10, SynchronizeCache.SYNCHRONIZE_16 ->
                SynchronizeCache
                        .decode(form, cdb);
            case VerifyBlocks.VERIFY_10, VerifyBlocks.VERIFY_12, VerifyBlocks.VERIFY_16 ->
                VerifyBlocks
                        .decode(form, cdb);
            case WriteAndVerify.WRITE_VERIFY_10, WriteAndVerify.WRITE_VERIFY_12,
                    WriteAndVerify.WRITE_VERIFY_16 ->
                WriteAndVerify
                        .decode(form, cdb);
            case Unmap.OPCODE -> Unmap.decode(cdb);
            case WriteSame.SAME_10, WriteSame.SAME_16 -> WriteSame.decode(form, cdb);
            case CompareAndWrite.OPCODE -> CompareAndWrite.decode(cdb);
            case OrWrite.OPCODE -> OrWrite.decode(cdb);
            case WriteAtomic.OPCODE -> WriteAtomic.decode(cdb);
            case Sanitize.OPCODE -> Sanitize.decode(cdb);
            case FormatUnit.OPCODE -> FormatUnit.decode(cdb);
            case ReadDefectData.DEFECTS_10, ReadDefectData.DEFECTS_12 -> ReadDefectData
                    .decode(form, cdb);
            case PreFetch.FETCH_10, PreFetch.FETCH_16 -> PreFetch.decode(form, cdb);
            case StartStopUnit.OPCODE -> StartStopUnit.decode(cdb);
            case PreventAllowMediumRemoval.OPCODE -> PreventAllowMediumRemoval.decode(cdb);
            case PersistentReserveIn.OPCODE -> PersistentReserveIn.decode(cdb);
            case PersistentReserveOut.OPCODE -> PersistentReserveOut.decode(cdb);
            case Reserve.RESERVE_6, Reserve.RESERVE_10 -> Reserve.decode(form, cdb);
            case Release.RELEASE_6, Release.RELEASE_10 -> Release.decode(form, cdb);
            case LogSense.OPCODE -> LogSense.decode(cdb);
            case LogSelect.OPCODE -> LogSelect.decode(cdb);
            case ReadBuffer.OPCODE -> ReadBuffer.decode(cdb);
            case WriteBuffer.OPCODE -> WriteBuffer.decode(cdb);
            case SendDiagnostic.OPCODE -> SendDiagnostic.decode(cdb);
            case ReceiveDiagnosticResults.OPCODE -> ReceiveDiagnosticResults.decode(cdb);
            case ExtendedCopy.OPCODE -> ExtendedCopy.decodeThirdPartyCopyOut(cdb);
            case ReceiveCopyResults.OPCODE -> ReceiveCopyResults.decode(cdb);
            case ReadCapacity16.OPCODE -> decodeServiceActionIn16(cdb);
            case ReportTargetPortGroups.OPCODE -> decodeMaintenanceIn(cdb);
            case SetTargetPortGroups.OPCODE -> decodeMaintenanceOut(cdb);
            default -> throw InvalidCdbException.operationCode();
        };
    }

    /** SERVICE ACTION IN(16), 9Eh (SPC-5). */
    private static Cdb decodeServiceActionIn16(MemorySegment cdb) throws InvalidCdbException {
        return switch (CdbFields.serviceAction(cdb)) {
            case ReadCapacity16.SERVICE_ACTION -> ReadCapacity16.decode(cdb);
            case GetLbaStatus.SERVICE_ACTION -> GetLbaStatus.decode(cdb);
            default -> throw InvalidCdbException.field(1, SERVICE_ACTION_BIT);
        };
    }

    /** MAINTENANCE IN, A3h (SPC-5). */
    private static Cdb decodeMaintenanceIn(MemorySegment cdb) throws InvalidCdbException {
        return switch (CdbFields.serviceAction(cdb)) {
            case ReportTargetPortGroups.SERVICE_ACTION -> ReportTargetPortGroups.decode(cdb);
            case ReportSupportedOperationCodes.SERVICE_ACTION -> ReportSupportedOperationCodes
                    .decode(cdb);
            case ReportSupportedTaskManagementFunctions.SERVICE_ACTION ->
                ReportSupportedTaskManagementFunctions
                        .decode(cdb);
            case ReportIdentifyingInformation.SERVICE_ACTION -> ReportIdentifyingInformation
                    .decode(cdb);
            case ReportTimestamp.SERVICE_ACTION -> ReportTimestamp.decode(cdb);
            default -> throw InvalidCdbException.field(1, SERVICE_ACTION_BIT);
        };
    }

    /** MAINTENANCE OUT, A4h (SPC-5). */
    private static Cdb decodeMaintenanceOut(MemorySegment cdb) throws InvalidCdbException {
        return switch (CdbFields.serviceAction(cdb)) {
            case SetIdentifyingInformation.SERVICE_ACTION -> SetIdentifyingInformation.decode(cdb);
            case SetTargetPortGroups.SERVICE_ACTION -> SetTargetPortGroups.decode(cdb);
            case SetTimestamp.SERVICE_ACTION -> SetTimestamp.decode(cdb);
            default -> throw InvalidCdbException.field(1, SERVICE_ACTION_BIT);
        };
    }
}
