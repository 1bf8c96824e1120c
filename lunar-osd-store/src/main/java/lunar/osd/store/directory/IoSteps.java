package lunar.osd.store.directory;

import java.io.IOException;
import java.nio.file.Path;
import java.sql.SQLException;

/** Is told each step of I/O; simulations fail some of them, or all from one on. */
interface IoSteps {
    IoSteps NONE = new IoSteps() {
    };

    /**
     * Called before something is done with a file or directory of the store.
     *
     * @param step {@code create}, {@code open}, {@code read}, {@code write}, {@code resize}, {@code sync} or
     *        {@code delete}
     */
    default void file(String step, Path file) throws IOException {}

    /** Called after a file, or the entries of a directory, were made stable. */
    default void synced(Path file) {}

    /** Called before a statement of the database is executed. */
    default void statement(String text) throws SQLException {}

    /** Called after a transaction was committed. */
    default void committed() throws SQLException {}
}
