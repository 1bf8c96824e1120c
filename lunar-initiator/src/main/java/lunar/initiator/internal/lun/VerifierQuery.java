package lunar.initiator.internal.lun;

import java.lang.foreign.MemorySegment;
import java.util.UUID;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import lunar.initiator.internal.session.SessionEngine;
import lunar.scsi.Cdb;
import lunar.scsi.Lun;
import lunar.scsi.MalformedDataException;
import lunar.scsi.vpd.Inquiry;
import lunar.scsi.vpd.VpdPage;
import lunar.scsi.vpd.WriteVerifier;

/**
 * Reads the write verifier of a unit again, without blocking, after the target has reported lost writes by failing a
 * command: otherwise the changed verifier would report the same loss once more at the next login. Thread-safe.
 */
public final class VerifierQuery {
    private static final int VPD_BYTES = 256;

    private final BackgroundQuery query;

    /** @param changed takes the verifier; must not block */
    public VerifierQuery(SessionEngine session, Lun lun, Consumer<UUID> changed,
            BooleanSupplier isClosed) {
        query = new BackgroundQuery(session, lun, VPD_BYTES, new BackgroundQuery.Subject() {
            @Override
            public Cdb begin() { return new Inquiry(true, WriteVerifier.CODE, VPD_BYTES); }

            @Override
            public void adopt(MemorySegment response) throws MalformedDataException {
                if (VpdPage.decode(response) instanceof WriteVerifier verifier) {
                    changed.accept(verifier.value());
                }
            }

            @Override
            public String withoutResponse() { return "keeping the write verifier"; }

            @Override
            public boolean isClosed() { return isClosed.getAsBoolean(); }
        });
    }

    /** Sends a query. */
    public void ask() { query.ask(); }
}
