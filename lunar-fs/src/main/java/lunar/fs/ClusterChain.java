package lunar.fs;

import java.io.IOException;

/**
 * Cluster chain of a file. Remembers its position, so that forward access does not start from the beginning. Not
 * thread-safe.
 */
final class ClusterChain implements RunMap {
    /** Clusters of a run: each costs a look into the table. */
    private static final int MAX_RUN = 1024;

    private final FatTable table;
    private final FatGeometry geometry;
    private final long first;
    private long index;
    private long cluster;

    ClusterChain(FatTable table, long first) throws CorruptException {
        this.table = table;
        this.geometry = table.geometry();
        this.first = first;
        if (!geometry.isCluster(first)) {
            throw new CorruptException(
                    "a file starts at cluster " + first + ", which does not exist");
        }
        cluster = first;
    }

    /** Bytes of all clusters; a chain that is longer than the most allowed is an error, as one without end is. */
    long length(long mostBytes) throws IOException {
        long most = mostBytes / geometry.clusterBytes() + 1;
        long count = 1;
        for (long at = table.next(first); at != FatTable.END; at = table.next(at)) {
            if (++count > most) {
                throw new CorruptException("the chain of clusters from " + first
                        + " on is longer than a directory can be");
            }
        }
        return count * geometry.clusterBytes();
    }

    @Override
    public Run at(long position) throws IOException {
        long wanted = position / geometry.clusterBytes();
        if (wanted < index) {
            index = 0;
            cluster = first;
        }
        while (index < wanted) {
            cluster = next(cluster);
            index++;
        }
        long start = index;
        long from = cluster;
        int count = 1;
        while (count < MAX_RUN && table.goesOnSideBySide(cluster)) {
            cluster++;
            index++;
            count++;
        }
        return new Run(start * geometry.clusterBytes(), (long) count * geometry.clusterBytes(),
                geometry.position(from));
    }

    private long next(long cluster) throws IOException {
        long next = table.next(cluster);
        if (next == FatTable.END) {
            throw new CorruptException("the chain of clusters from " + first
                    + " on ends before its file does");
        }
        return next;
    }
}
