package lunar.lucene;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import lunar.testkit.PowerCutDevice;
import lunar.testkit.Seed;
import org.apache.lucene.analysis.standard.StandardAnalyzer;
import org.apache.lucene.index.CheckIndex;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.IndexWriterConfig;
import org.apache.lucene.index.SerialMergeScheduler;
import org.apache.lucene.index.StoredFields;
import org.apache.lucene.index.Term;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.MatchAllDocsQuery;
import org.apache.lucene.search.ScoreDoc;
import org.junit.jupiter.api.Test;

/**
 * Runs an index writer whose disk loses power repeatedly: the index must be that of the last commit, or of the commit
 * that was in progress.
 */
class IndexCrashTest {
    private static final int SIZE = 12 << 20;
    private static final int RUNS = 25;
    private static final int CUTS_PER_RUN = 4;

    /** Expected documents; both sets are equal while no commit is in progress. */
    private Set<Integer> committed = new TreeSet<>();
    private Set<Integer> committing = new TreeSet<>();
    private int nextId;

    @Test
    void shouldKeepCommitsAtomicAcrossPowerCuts() throws Exception {
        long seed = Seed.next();
        for (int run = 0; run < RUNS; run++) {
            run(seed + run, false);
        }
    }

    /** Shows that the test above sees what is lost: a disk that lies about flushes loses commits. */
    @Test
    void shouldLoseCommitsOnADiskThatIgnoresFlushes() {
        for (long seed = 1; seed < 200; seed++) {
            try {
                run(seed, true);
            } catch (IOException | AssertionError _) {
                return;
            }
        }
        throw new AssertionError("nothing was ever lost");
    }

    private void run(long seed, boolean lies) throws IOException {
        var random = new Random(seed);
        committed = new TreeSet<>();
        committing = committed;
        var blank = PowerCutDevice.create(SIZE, random);
        LunarDirectory.format(blank);
        PowerCutDevice device = lies ? blank.thatLiesAboutFlushes() : blank;
        for (int cut = 0; cut < CUTS_PER_RUN; cut++) {
            String what = "seed " + seed + " cut " + cut;
            PowerCutDevice next = device.afterCut(random.nextInt(600));
            device.close();
            device = next;
            LunarDirectory directory = null;
            try {
                directory = LunarDirectory.open(device, 1 << 20);
                index(directory, random);
            } catch (IOException | RuntimeException e) { // a merge wraps some failures of the device
                if (!device.isCut()) {
                    throw new AssertionError(what, e);
                }
            } finally {
                close(directory);
            }
            PowerCutDevice after = device.afterCut(Long.MAX_VALUE);
            device.close();
            device = after;
            try (var recovered = LunarDirectory.open(device, 1 << 20)) {
                verify(recovered, what);
            }
        }
        device.close();
    }

    private static void close(LunarDirectory directory) {
        try {
            if (directory != null) {
                directory.close();
            }
        } catch (IOException _) {
            // its power is off
        }
    }

    /** Adds and deletes documents, and commits now and then, until the power is cut. */
    private void index(LunarDirectory directory, Random random) throws IOException {
        var config = new IndexWriterConfig(new StandardAnalyzer())
                .setMergeScheduler(new SerialMergeScheduler()).setMaxBufferedDocs(8)
                .setUseCompoundFile(random.nextBoolean()).setCommitOnClose(false);
        var writer = new IndexWriter(directory, config);
        try {
            Set<Integer> documents = new TreeSet<>(committed);
            for (int step = 0; step < 400; step++) {
                switch (random.nextInt(10)) {
                    case 0 -> {
                        committing = new TreeSet<>(documents);
                        writer.commit();
                        committed = committing;
                    }
                    case 1 -> {
                        if (!documents.isEmpty()) {
                            int victim = documents.iterator().next();
                            writer.deleteDocuments(new Term("id", Integer.toString(victim)));
                            documents.remove(victim);
                        }
                    }
                    default -> {
                        int id = nextId++;
                        writer.addDocument(Corpus.document(id, random));
                        documents.add(id);
                    }
                }
            }
        } finally {
            try {
                writer.rollback();
            } catch (IOException | RuntimeException _) {
                // its power is off
            }
        }
    }

    private void verify(LunarDirectory directory, String what) throws IOException {
        if (!DirectoryReader.indexExists(directory)) {
            assertThat(committed).as(what + ": there is no index").isEmpty();
            return;
        }
        Set<Integer> found = new TreeSet<>();
        try (var reader = DirectoryReader.open(directory)) {
            var searcher = new IndexSearcher(reader);
            StoredFields stored = searcher.storedFields();
            for (ScoreDoc hit : searcher.search(MatchAllDocsQuery.INSTANCE, 100_000).scoreDocs) {
                found.add(Integer.valueOf(stored.document(hit.doc).get("id")));
            }
        }
        assertThat(found).as(what).isIn(committed, committing);
        var report = new ByteArrayOutputStream();
        try (var check = new CheckIndex(directory)) {
            check.setInfoStream(new PrintStream(report, false, StandardCharsets.UTF_8));
            assertThat(check.checkIndex().clean)
                    .as(() -> what + ": " + report.toString(StandardCharsets.UTF_8)).isTrue();
        }
        committed = found;
        committing = found;
    }
}
