package lunar.osd.store.directory;

import java.nio.file.Path;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import lunar.block.StorageException;
import org.jspecify.annotations.Nullable;
import org.sqlite.JDBC;
import org.sqlite.SQLiteConfig;
import org.sqlite.SQLiteOpenMode;
import org.sqlite.core.Codes;
import org.sqlite.core.CoreStatement;
import org.sqlite.core.DB;

/**
 * A connection to the database with its prepared statements, which are kept. Transactions are begun and ended by
 * statements: the driver's own handling of them executes two statements more for each change. For one thread at a time.
 */
final class Sql implements AutoCloseable {
    /** Makes a value of a row, which is valid only during the call. */
    @FunctionalInterface
    interface RowMapper<T> {
        T map(Row row) throws SQLException;
    }

    /**
     * The row at which a statement is. Columns count from 1. Read from the driver's {@link DB}: its result sets ask for
     * the names of all columns at each query, which takes longer than a query by key.
     */
    static final class Row {
        private final DB database;
        private final long statement;

        private Row(DB database, long statement) {
            this.database = database;
            this.statement = statement;
        }

        /** Returns a number; 0 for NULL. */
        long getLong(int column) throws SQLException {
            return database.column_long(statement, column - 1);
        }

        /** Returns a number; 0 for NULL. */
        int getInt(int column) throws SQLException {
            return database.column_int(statement, column - 1);
        }

        byte[] getBytes(int column) throws SQLException {
            return database.column_blob(statement, column - 1);
        }

        String getString(int column) throws SQLException {
            return database.column_text(statement, column - 1);
        }
    }

    private static final int BUSY_MS = 10_000;
    private static final int WRITER_CACHE_KIB = 64 * 1024;
    private static final int READER_CACHE_KIB = 16 * 1024;

    private final Connection connection;
    private final IoSteps steps;
    private final Map<String, PreparedStatement> statements = new HashMap<>();
    private boolean failed;
    private long changedRows;
    private long statementsBesideQueries;

    Sql(Connection connection) { this(connection, IoSteps.NONE); }

    private Sql(Connection connection, IoSteps steps) {
        this.connection = connection;
        this.steps = steps;
    }

    /** Opens the connection that writes. The journal mode is the file's: set by {@link Schema#create}. */
    static Sql writing(Path file, IoSteps steps) throws SQLException {
        Sql sql = open(file, SQLiteOpenMode.READWRITE, steps);
        sql.configure("PRAGMA cache_size = -" + WRITER_CACHE_KIB, "PRAGMA synchronous = NORMAL",
                // Housekeeping checkpoints, so that no commit waits for one.
                "PRAGMA wal_autocheckpoint = 0", "PRAGMA journal_size_limit = 67108864");
        return sql;
    }

    /** Opens a connection that reads. */
    static Sql reading(Path file, IoSteps steps) throws SQLException {
        Sql sql = open(file, SQLiteOpenMode.READONLY, steps);
        sql.configure("PRAGMA cache_size = -" + READER_CACHE_KIB);
        return sql;
    }

    static Sql writing(Path file) throws SQLException { return writing(file, IoSteps.NONE); }

    static Sql reading(Path file) throws SQLException { return reading(file, IoSteps.NONE); }

    /** Without memory mapping: an I/O error would be a SIGBUS, which ends the process. */
    private static Sql open(Path file, SQLiteOpenMode mode, IoSteps steps) throws SQLException {
        var properties = new Properties();
        properties.setProperty(SQLiteConfig.Pragma.OPEN_MODE.pragmaName,
                Integer.toString(mode.flag));
        // After each INSERT the driver would query the key.
        properties.setProperty(SQLiteConfig.Pragma.JDBC_GET_GENERATED_KEYS.pragmaName, "false");
        Sql sql = new Sql(JDBC.createConnection("jdbc:sqlite:" + file.toAbsolutePath(),
                properties), steps);
        sql.configure("PRAGMA busy_timeout = " + BUSY_MS, "PRAGMA temp_store = MEMORY",
                "PRAGMA mmap_size = 0", "PRAGMA trusted_schema = OFF",
                "PRAGMA cell_size_check = ON");
        sql.connection.setAutoCommit(false); // the driver begins a transaction, and believes in it from now on
        sql.configure("COMMIT");
        return sql;
    }

    private void configure(String... settings) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            for (String each : settings) {
                statement.execute(each);
            }
        } catch (SQLException e) {
            connection.close();
            throw e;
        }
    }

    /** Executes a statement that is not kept, such as a setting, which takes effect when it is prepared. */
    void execute(String statement) throws StorageException {
        statementsBesideQueries++;
        try (Statement once = connection.createStatement()) {
            steps.statement(statement);
            once.execute(statement);
        } catch (SQLException e) {
            throw failure(e);
        }
    }

    /** Changes rows. Arguments are {@code Long} or {@code byte[]}. Returns the number of rows. */
    int update(String statement, Object... arguments) throws StorageException {
        statementsBesideQueries++;
        try {
            steps.statement(statement);
            int rows = prepared(statement, arguments).executeUpdate();
            changedRows += rows;
            return rows;
        } catch (SQLException e) {
            throw failure(e, statement);
        }
    }

    /** Begins or ends a transaction or a savepoint. */
    void control(String statement) throws StorageException {
        statementsBesideQueries++;
        try {
            steps.statement(statement);
            prepared(statement).executeUpdate();
            if (statement.equals("COMMIT")) {
                steps.committed();
            }
        } catch (SQLException e) {
            throw failure(e, statement);
        }
    }

    /** Returns the number of rows changed since the connection was opened. */
    long changedRows() {
        return changedRows;
    }

    /** Returns a number that grows whenever queries may have other results than before. */
    long state() {
        return statementsBesideQueries;
    }

    /** Returns the value of the first row; null if there is none. */
    <T> @Nullable T first(String query, RowMapper<T> mapper, Object... arguments)
            throws StorageException {
        List<T> found = rows(query, mapper, 1, arguments);
        return found.isEmpty() ? null : found.getFirst();
    }

    /** Returns the number in the first row; 0 if there is none. */
    long number(String query, Object... arguments) throws StorageException {
        Long found = first(query, row -> row.getLong(1), arguments);
        return found == null ? 0 : found;
    }

    /** Returns the values of all rows. */
    <T> List<T> all(String query, RowMapper<T> mapper, Object... arguments)
            throws StorageException {
        return rows(query, mapper, Integer.MAX_VALUE, arguments);
    }

    private <T> List<T> rows(String query, RowMapper<T> mapper, int max, Object... arguments)
            throws StorageException {
        var found = new ArrayList<T>();
        try {
            steps.statement(query);
            var statement = (CoreStatement) prepared(query);
            if (statement.getDatabase().execute(statement, arguments)) {
                statement.pointer.<SQLException>safeRunConsume((database, pointer) -> {
                    try {
                        read(new Row(database, pointer), mapper, max, found);
                    } finally {
                        int _ = database.reset(pointer);
                    }
                });
            }
        } catch (SQLException e) {
            throw failure(e, query);
        }
        return found;
    }

    /** Reads rows from the one on at which the statement is. */
    private static <T> void read(Row row, RowMapper<T> mapper, int max, List<T> found)
            throws SQLException {
        int result = Codes.SQLITE_ROW;
        while (result == Codes.SQLITE_ROW && found.size() < max) {
            found.add(mapper.map(row));
            result = found.size() < max ? row.database.step(row.statement) : Codes.SQLITE_DONE;
        }
        if (result != Codes.SQLITE_DONE) {
            row.database.throwex(result);
        }
    }

    private PreparedStatement prepared(String text, Object... arguments) throws SQLException {
        PreparedStatement statement = statements.get(text);
        if (statement == null) {
            statement = connection.prepareStatement(text);
            statements.put(text, statement);
        }
        for (int i = 0; i < arguments.length; i++) {
            switch (arguments[i]) {
                case byte[] bytes -> statement.setBytes(i + 1, bytes);
                case Number number -> statement.setLong(i + 1, number.longValue());
                default -> throw new IllegalArgumentException(arguments[i].getClass().getName());
            }
        }
        return statement;
    }

    private StorageException failure(SQLException e) {
        failed = true;
        return Failures.of(e);
    }

    /** Forgets the statement too: the driver closes one that has failed, such as for lack of space. */
    private StorageException failure(SQLException e, String text) {
        PreparedStatement failing = statements.remove(text);
        try {
            if (failing != null) {
                failing.close();
            }
        } catch (SQLException closing) {
            e.addSuppressed(closing);
        }
        return failure(e);
    }

    /**
     * Whether a statement has failed since the last call. The database may have undone the transaction then, so it
     * cannot be committed.
     */
    boolean takeFailed() {
        boolean was = failed;
        failed = false;
        return was;
    }

    @Override
    public void close() throws StorageException {
        try {
            for (PreparedStatement each : statements.values()) {
                each.close();
            }
            connection.close();
        } catch (SQLException e) {
            throw Failures.of(e);
        }
    }
}
