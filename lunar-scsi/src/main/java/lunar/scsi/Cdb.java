package lunar.scsi;

import java.lang.foreign.MemorySegment;

/**
 * A command descriptor block (SPC-5). The initiator encodes it, the target decodes it; a switch over
 * the sealed family is complete over what a target can receive.
 *
 * <p>Constructors refuse values that have no place in the bytes with IllegalArgumentException: that is a mistake
 * of our own, which {@link #decode} cannot make. Logical block addresses are unsigned 64-bit numbers; a negative
 * one lies beyond any device. Reserved bits are written as zero and ignored when read; so is the CONTROL byte,
 * except that NACA is refused.
 */
public sealed interface Cdb permits TestUnitReady, RequestSense, Inquiry, ReadCapacity10,
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
    /** Which way data travel. */
    enum Direction {
        NONE,
        /** Data-in, from the device. */
        IN,
        /** Data-out, to the device. */
        OUT
    }

    /** Bytes of the longest CDB here, and of the CDB field of an iSCSI command (RFC 7143 section 11.3.5). */
    int MAX_LENGTH = 16;

    /** OPERATION CODE, the first byte. */
    int opcode();

    /** The length class of the CDB. */
    CdbForm form();

    /** Which way data travel. */
    Direction direction();

    /** Writes {@code form().length()} bytes at the start of a segment; bytes after these are left alone. */
    void encode(MemorySegment target);

    /** The encoded CDB. */
    default byte[] bytes() {
        byte[] array = new byte[form().length()];
        encode(MemorySegment.ofArray(array));
        return array;
    }

    /**
     * Reads a CDB; bytes behind its end are ignored.
     *
     * @throws InvalidCdbException with the sense data to answer: 20h/00h for an operation code that is not known,
     *         24h/00h with a field pointer for a service action that is not known, for NACA, for a CDB which is
     *         cut, and for a field that no device could take
     */
    static Cdb decode(MemorySegment cdb) throws InvalidCdbException {
        return CdbDecoder.decode(cdb);
    }
}
