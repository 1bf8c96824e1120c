package lunar.cli;

import java.util.List;
import lunar.block.StorageException;

/** Closes what was opened one after the other. */
final class ClosingAll {
    /** Closes one of them. */
    @FunctionalInterface
    interface Closing<T> {
        void close(T opened) throws StorageException;
    }

    private ClosingAll() {}

    /** Closes all in reverse order, even when one fails; the first failure is thrown, with the others suppressed. */
    static <T> void inReverse(List<T> opened, Closing<T> closing) throws StorageException {
        StorageException first = null;
        for (T each : opened.reversed()) {
            try {
                closing.close(each);
            } catch (StorageException e) {
                if (first == null) {
                    first = e;
                } else {
                    first.addSuppressed(e);
                }
            }
        }
        if (first != null) {
            throw first;
        }
    }
}
