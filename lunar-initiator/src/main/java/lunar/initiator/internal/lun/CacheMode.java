package lunar.initiator.internal.lun;

import java.lang.foreign.MemorySegment;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;
import lunar.initiator.internal.session.SessionEngine;
import lunar.scsi.Cdb;
import lunar.scsi.CdbForm;
import lunar.scsi.Lun;
import lunar.scsi.MalformedDataException;
import lunar.scsi.mode.CachingModePage;
import lunar.scsi.mode.ModeParameters;
import lunar.scsi.mode.ModeSense;

/**
 * Knows whether a unit has a volatile write cache (WCE of the Caching mode page, SBC-4 section 6.5.6). Another host may
 * switch it at any time, and a reset may restore saved values: from the report of such an event until the page has been
 * read again, the unit counts as having one. WCE 0 does not make earlier writes stable: a target may show it before it
 * has destaged them, and fail to. Thread-safe.
 */
public final class CacheMode {
    private static final System.Logger LOG = System.getLogger("lunar.initiator");
    private static final int MODE_BYTES = 192;

    /**
     * The page as it was read.
     *
     * @param changes number of changes that had been reported when it was requested
     */
    private record Known(boolean isVolatile, long changes) {}

    /** Number of reports that mode parameters may have changed. */
    private final AtomicLong changes;
    private final WriteLedger writes;
    /** Whether the session has several connections, which do not keep the order of responses. */
    private final boolean isUnordered;
    private final BackgroundQuery query;
    /** Whether the unit has answered MODE SENSE when it was opened; otherwise it counts as having a cache forever. */
    private final boolean answers;
    private volatile Known known;

    /** @param traits as the unit was found when it was opened */
    public CacheMode(SessionEngine session, Lun lun, LunTraits traits, WriteLedger writes,
            BooleanSupplier isClosed) {
        this.writes = writes;
        isUnordered = Math.min(session.options().connections(),
                session.loginResult().parameters().maxConnections()) > 1;
        int page = traits.answers().mode().map(LunAnswers.Modes::page).orElse(CachingModePage.CODE);
        changes = session.resets().modeChanges(lun);
        answers = traits.answers().mode().isPresent();
        known = new Known(traits.hasVolatileCache(), traits.modeChanges());
        query = new BackgroundQuery(session, lun, MODE_BYTES, new BackgroundQuery.Subject() {
            private volatile long asked;

            @Override
            public Cdb begin() {
                asked = changes.get();
                return new ModeSense(CdbForm.CDB6, false, true, ModeSense.PageControl.CURRENT,
                        page, 0, MODE_BYTES);
            }

            @Override
            public void adopt(MemorySegment response) throws MalformedDataException {
                boolean isVolatile = isVolatile(
                        Optional.of(ModeParameters.decodeSense(CdbForm.CDB6, response)));
                boolean isNew = isVolatile != known.isVolatile();
                known = new Known(isVolatile, asked);
                if (isNew) {
                    LOG.log(System.Logger.Level.INFO, "{0}/{1}: the write cache is {2} now",
                            session.targetName(), lun, isVolatile ? "on" : "off");
                }
            }

            @Override
            public String withoutResponse() { return "assuming that its write cache is on"; }

            @Override
            public boolean isClosed() { return isClosed.getAsBoolean(); }
        });
    }

    /** Whether WCE is set; a device that has no Caching mode page may have a cache all the same (SBC-4 4.15). */
    static boolean isVolatile(Optional<ModeParameters> mode) {
        return !(mode.flatMap(pages -> pages.page(CachingModePage.CODE))
                .orElse(null) instanceof CachingModePage caching)
                || caching.writeCacheEnabled();
    }

    /** Whether a write without FUA may be lost when the target loses power. */
    public boolean isVolatile() {
        Known now = known;
        return now.isVolatile() || now.changes() != changes.get();
    }

    /** Reads the page again if it may have changed since. Does not block. */
    public void refresh() {
        Known now = known;
        if (now.changes() == changes.get()) {
            return;
        }
        if (isUnordered && !now.isVolatile()) {
            // Writes may have been executed after the change, and their status has overtaken the report of it.
            writes.doubt();
        }
        if (answers) {
            query.ask();
        }
    }
}
