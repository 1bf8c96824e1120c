package lunar.lucene;

import java.io.IOException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import lunar.block.MediumException;

/** A page of a file in memory, immutable after it is loaded. */
final class Page {
    /**
     * Which piece of which file.
     *
     * @param file id of the file
     * @param index counts pages from the file's beginning
     */
    record Key(long file, long index) {}

    private static final int MANY = 2;

    final Key key;
    /** The content, in whole units: fewer than a page at the end of a file. */
    final byte[] bytes;
    final CompletableFuture<Void> loading = new CompletableFuture<>();
    /** Times it was used, as far as that matters. Lost updates only make it a little less dear. */
    private byte uses;

    Page(Key key, int length) {
        this.key = key;
        this.bytes = new byte[length];
    }

    /** Waits until it is loaded. */
    byte[] await() throws IOException {
        if (!loading.isDone() || loading.isCompletedExceptionally()) {
            try {
                loading.join();
            } catch (CompletionException e) {
                throw e.getCause() instanceof IOException cause
                        ? cause
                        : new MediumException("page " + key + " could not be read", e);
            }
        }
        return bytes;
    }

    void use() {
        if (uses < MANY) {
            uses++;
        }
    }

    /** Whether it was used more than once lately; less so from now on. */
    boolean isDear() {
        if (uses < MANY) {
            return false;
        }
        uses = 1;
        return true;
    }
}
