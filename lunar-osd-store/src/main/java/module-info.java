/** Stores of objects with attributes, for object-based storage devices. */
module lunar.osd.store {
    requires static org.jspecify;
    requires transitive lunar.block;
    requires transitive lunar.osd;
    requires java.sql;
    requires org.xerial.sqlitejdbc;

    exports lunar.osd.store;
    exports lunar.osd.store.directory;
}
