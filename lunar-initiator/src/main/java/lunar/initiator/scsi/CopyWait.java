package lunar.initiator.scsi;

import java.util.function.LongConsumer;
import lunar.block.AbortedException;
import lunar.block.StorageException;
import lunar.initiator.ScsiResult;
import lunar.initiator.internal.retry.RetriedCall;
import lunar.iscsi.pdu.Residual;
import lunar.scsi.Cdb;
import lunar.scsi.copy.CopyOperationAbort;
import lunar.scsi.copy.CopyOperationInformation;
import lunar.scsi.copy.ReceiveCopyResults;

/** Waits for the end of a copy by token: polls by RECEIVE ROD TOKEN INFORMATION. */
final class CopyWait {
    private static final int BYTES = 2048;
    private static final long MIN_PAUSE_MS = 2;
    private static final long MAX_PAUSE_MS = 1_000;
    private static final int LARGEST_UNIT = 6;
    private static final int UNIT_SHIFT = 10;

    private final Calls calls;
    private final Cdb begun;
    private final long identifier;

    /** @param begun the command that started the copy */
    CopyWait(Calls calls, Cdb begun, long identifier) {
        this.calls = calls;
        this.begun = begun;
        this.identifier = identifier;
    }

    /**
     * Waits for the end.
     *
     * @throws AbortedException if the thread is interrupted; the copy has been aborted
     */
    CopyOperationInformation await(int blockSize, LongConsumer progress) throws StorageException {
        var ask = new ReceiveCopyResults(ReceiveCopyResults.ROD_TOKEN_INFORMATION, identifier,
                BYTES);
        while (true) {
            CopyOperationInformation now = calls.ask(ask, BYTES, bytes -> CopyOperationInformation
                    .decode(bytes, CopyOperationInformation.Tail.ROD_TOKEN));
            switch (now.state()) {
                case SUCCEEDED -> {
                    return now;
                }
                case FAILED, TERMINATED -> throw failure(now);
                case IN_FOREGROUND, IN_BACKGROUND -> {
                    progress.accept(blocks(now, blockSize));
                    rest(Math.clamp(now.updateDelayMs(), MIN_PAUSE_MS, MAX_PAUSE_MS));
                }
            }
        }
    }

    private void rest(long pauseMs) throws StorageException {
        try {
            RetriedCall.pause(pauseMs, calls.describe(begun));
        } catch (AbortedException e) {
            calls.send(new CopyOperationAbort(identifier));
            throw e;
        }
    }

    private StorageException failure(CopyOperationInformation end) {
        String what = calls.describe(begun);
        try {
            new ScsiResult(end.completionStatus(), end.sense(), Residual.NONE, Residual.NONE, 0)
                    .orThrow(what);
            return new AbortedException(what + ": the copy has failed without sense data");
        } catch (StorageException e) {
            return e;
        }
    }

    /** Returns TRANSFER COUNT in blocks. */
    static long blocks(CopyOperationInformation information, int blockSize) {
        long count = information.transferCount();
        int units = information.units();
        if (units == CopyOperationInformation.IN_BLOCKS) {
            return count;
        }
        // Bytes, KiB, MiB and so on (SPC-5 section 6.24).
        return units <= LARGEST_UNIT ? (count << (UNIT_SHIFT * units)) / blockSize : 0;
    }
}
