package lunar.target.device;

import java.util.Optional;
import lunar.scsi.AdditionalSense;
import lunar.scsi.Cdb;
import lunar.scsi.CompareAndWrite;
import lunar.scsi.CopyOperationAbort;
import lunar.scsi.ExtendedCopy;
import lunar.scsi.FormatUnit;
import lunar.scsi.GetLbaStatus;
import lunar.scsi.Inquiry;
import lunar.scsi.LogSelect;
import lunar.scsi.LogSense;
import lunar.scsi.ModeSelect;
import lunar.scsi.ModeSense;
import lunar.scsi.OrWrite;
import lunar.scsi.PersistentReserveIn;
import lunar.scsi.PersistentReserveOut;
import lunar.scsi.PopulateToken;
import lunar.scsi.PreFetch;
import lunar.scsi.PreventAllowMediumRemoval;
import lunar.scsi.ReadBlocks;
import lunar.scsi.ReadBuffer;
import lunar.scsi.ReadCapacity10;
import lunar.scsi.ReadCapacity16;
import lunar.scsi.ReadDefectData;
import lunar.scsi.ReceiveCopyResults;
import lunar.scsi.ReceiveDiagnosticResults;
import lunar.scsi.Release;
import lunar.scsi.ReportIdentifyingInformation;
import lunar.scsi.ReportLuns;
import lunar.scsi.ReportSupportedOperationCodes;
import lunar.scsi.ReportSupportedTaskManagementFunctions;
import lunar.scsi.ReportTargetPortGroups;
import lunar.scsi.ReportTimestamp;
import lunar.scsi.RequestSense;
import lunar.scsi.Reserve;
import lunar.scsi.Sanitize;
import lunar.scsi.SendDiagnostic;
import lunar.scsi.Sense;
import lunar.scsi.SenseKey;
import lunar.scsi.SetIdentifyingInformation;
import lunar.scsi.SetTargetPortGroups;
import lunar.scsi.SetTimestamp;
import lunar.scsi.StartStopUnit;
import lunar.scsi.SynchronizeCache;
import lunar.scsi.TestUnitReady;
import lunar.scsi.Unmap;
import lunar.scsi.VerifyBlocks;
import lunar.scsi.WriteAndVerify;
import lunar.scsi.WriteAtomic;
import lunar.scsi.WriteBlocks;
import lunar.scsi.WriteBuffer;
import lunar.scsi.WriteSame;
import lunar.scsi.WriteUsingToken;

/**
 * Decides what an initiator that may only read can do: commands that change neither the data nor how others get at
 * them. The switch has no default, so that a new command must say which it is. docs/configuration.md has it as a table.
 */
final class ReadOnlyRules {
    private static final Optional<Sense> ALLOWED = Optional.empty();

    /** A change of the data (SBC-4 section 4.12). */
    private static final Optional<Sense> PROTECTED = Optional
            .of(Sense.of(SenseKey.DATA_PROTECT, AdditionalSense.WRITE_PROTECTED));

    /** A change of the unit, or of what others may do to it: as access controls refuse one (SPC-4 section 8.3.1.7). */
    private static final Optional<Sense> DENIED = Optional.of(
            Sense.of(SenseKey.ILLEGAL_REQUEST, AdditionalSense.ACCESS_DENIED_NO_ACCESS_RIGHTS));

    private ReadOnlyRules() {}

    /** Why such an initiator may not have a command executed; empty where it may. */
    static Optional<Sense> refusal(Cdb cdb) {
        return switch (cdb) {
            // Tells of the unit
            case TestUnitReady _,RequestSense _,Inquiry _,ReportLuns _,ModeSense _ -> ALLOWED;
            case ReadCapacity10 _,ReadCapacity16 _,GetLbaStatus _,ReadDefectData _ -> ALLOWED;
            case LogSense _,ReadBuffer _,ReceiveDiagnosticResults _,ReportTimestamp _ -> ALLOWED;
            case ReportSupportedOperationCodes _,ReportSupportedTaskManagementFunctions _ ->
                ALLOWED;
            case ReportTargetPortGroups _,ReportIdentifyingInformation _ -> ALLOWED;
            case PersistentReserveIn _ -> ALLOWED;
            // Reads
            case ReadBlocks _,VerifyBlocks _,PreFetch _ -> ALLOWED;
            case SynchronizeCache _ -> ALLOWED; // makes stable what others wrote; hosts send it to every disk
            // Copies: each segment asks whether its destination may be written
            case ExtendedCopy _,PopulateToken _,ReceiveCopyResults _,CopyOperationAbort _ ->
                ALLOWED;
            case Release _ -> ALLOWED; // of what others hold it does nothing
            // Writes
            case WriteBlocks _,WriteAndVerify _,WriteAtomic _,WriteSame _ -> PROTECTED;
            case WriteUsingToken _,CompareAndWrite _,OrWrite _,Unmap _ -> PROTECTED;
            case FormatUnit _,Sanitize _ -> PROTECTED;
            // Changes the unit, or what others may do to it
            case PersistentReserveOut reserve -> registers(reserve) ? ALLOWED : DENIED;
            case PreventAllowMediumRemoval removal -> removal.prevent() == 0 ? ALLOWED : DENIED;
            case Reserve _,SetTargetPortGroups _,StartStopUnit _,ModeSelect _ -> DENIED;
            case LogSelect _,SendDiagnostic _,WriteBuffer _,SetTimestamp _ -> DENIED;
            case SetIdentifyingInformation _ -> DENIED;
        };
    }

    /** Like {@link #refusal}, but for a plain READ or WRITE, for which no record is made. */
    static Optional<Sense> refusalOfPlain(Access access) {
        return access == Access.WRITE ? PROTECTED : ALLOWED;
    }

    /** Whether it registers: a reservation for registrants asks that of readers too; it takes nothing from others. */
    private static boolean registers(PersistentReserveOut reserve) {
        return reserve.serviceAction() == PersistentReserveOut.REGISTER
                || reserve.serviceAction() == PersistentReserveOut.REGISTER_AND_IGNORE_EXISTING_KEY;
    }
}
