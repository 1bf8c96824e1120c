/** A Lucene directory on a block device: index and search on a LUN. */
module lunar.lucene {
    requires transitive lunar.block;
    requires transitive org.apache.lucene.core;
    requires static org.jspecify;

    exports lunar.lucene;
}
