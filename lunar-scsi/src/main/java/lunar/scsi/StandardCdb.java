package lunar.scsi;

/**
 * A CDB of primary commands and of block devices, whose operation code tells its length (SAM-5 section 5.2).
 * {@link CdbDecoder} reads them all.
 */
public sealed interface StandardCdb extends Cdb
        permits TestUnitReady, RequestSense, Inquiry, ReadCapacity10,
        ReadCapacity16, ReportLuns, ModeSense, ModeSelect, ReadBlocks, WriteBlocks,
        SynchronizeCache, VerifyBlocks, WriteAndVerify, Unmap, WriteSame, CompareAndWrite,
        GetLbaStatus, PreFetch, StartStopUnit, PreventAllowMediumRemoval,
        ReportSupportedOperationCodes, ReportSupportedTaskManagementFunctions,
        ReportTargetPortGroups, PersistentReserveIn, PersistentReserveOut, Reserve, Release,
        OrWrite, WriteAtomic, Sanitize, FormatUnit, ReadDefectData,
        LogSense, LogSelect, ReadBuffer, WriteBuffer, SendDiagnostic, ReceiveDiagnosticResults,
        SetTargetPortGroups, ReportIdentifyingInformation, SetIdentifyingInformation,
        ReportTimestamp, SetTimestamp, ExtendedCopy, PopulateToken, WriteUsingToken,
        CopyOperationAbort, ReceiveCopyResults {
    /** The length class of the CDB. */
    CdbForm form();

    @Override
    default int length() { return form().length(); }
}
