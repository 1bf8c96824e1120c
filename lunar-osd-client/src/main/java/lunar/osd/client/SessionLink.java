package lunar.osd.client;

import java.lang.foreign.MemorySegment;
import java.util.concurrent.CompletableFuture;
import lunar.block.StorageException;
import lunar.initiator.Exchange;
import lunar.initiator.ScsiResult;
import lunar.initiator.Session;
import lunar.scsi.Bytes;
import lunar.scsi.Lun;

/** Carries commands over a session. */
record SessionLink(Session session, Lun lun) implements CommandLink {
    @Override
    public String name() { return session.targetName() + "/" + lun; }

    @Override
    public Object connection() { return session; }

    @Override
    public long patienceMs() { return session.options().timeouts().commandMs(); }

    @Override
    public long losses() { return session.cacheLosses(lun); }

    @Override
    public ScsiResult execute(byte[] cdb, MemorySegment in, MemorySegment out)
            throws StorageException {
        return session.execute(lun, cdb, in, out);
    }

    @Override
    public CompletableFuture<ScsiResult> start(byte[] cdb, MemorySegment in, MemorySegment out) {
        return session.start(new Exchange.Scsi(lun, Bytes.of(cdb), in, out, 0)).future();
    }
}
