package lunar.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Stream;
import lunar.block.BlockDevice;
import lunar.block.Devices;
import lunar.lucene.LunarDirectory;
import lunar.testkit.Seed;
import org.apache.lucene.analysis.standard.StandardAnalyzer;
import org.apache.lucene.document.Document;
import org.apache.lucene.document.Field.Store;
import org.apache.lucene.document.StringField;
import org.apache.lucene.document.TextField;
import org.apache.lucene.index.CheckIndex;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.IndexWriterConfig;
import org.apache.lucene.index.Term;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.PhraseQuery;
import org.apache.lucene.search.Query;
import org.apache.lucene.search.ScoreDoc;
import org.apache.lucene.search.TermQuery;
import org.apache.lucene.store.ByteBuffersDirectory;
import org.apache.lucene.store.Directory;
import org.junit.jupiter.api.Test;

/**
 * Indexes Lunar's documentation and sources on a LUN, and compares the hits of searches with those of an index in
 * memory.
 */
class LuceneOnALunTest {
    private final long seed = Seed.next();
    private final Random random = new Random(seed);

    @Test
    void shouldFindOnALunWhatIsFoundInMemory() throws Exception {
        Map<String, String> corpus = corpus();
        assertThat(corpus).hasSizeGreaterThan(300);
        try (ServedTarget target = ServedTarget.of("ram:64MiB");
                var memory = new ByteBuffersDirectory()) {
            index(memory, corpus, false);
            Map<Query, Set<String>> expected = search(memory, queries(corpus));
            expected.values().removeIf(Set::isEmpty); // the analyzer cuts words in its own way
            assertThat(expected).as("seed %d", seed).hasSizeGreaterThan(50);
            Set<Query> queries = expected.keySet();
            try (BlockDevice lun = Devices.open(target.url(0))) {
                LunarDirectory.format(lun);
                try (var directory = LunarDirectory.open(lun)) {
                    index(directory, corpus, true);
                    assertThat(search(directory, queries)).as("seed %d", seed).isEqualTo(expected);
                }
            }
            try (BlockDevice lun = Devices.open(target.url(0));
                    var directory = LunarDirectory.open(lun, 1 << 20)) { // less than the index
                assertThat(search(directory, queries)).as("seed %d", seed).isEqualTo(expected);
                requireClean(directory);
                try (var writer = new IndexWriter(directory, new IndexWriterConfig())) {
                    writer.forceMerge(1);
                }
                assertThat(search(directory, queries)).as("seed %d", seed).isEqualTo(expected);
                requireClean(directory);
            }
        }
    }

    /** Text of each file, by its path. */
    private static Map<String, String> corpus() throws IOException {
        Path root = Path.of("").toAbsolutePath();
        while (!Files.isDirectory(root.resolve("lunar-it"))) {
            root = root.getParent();
        }
        var corpus = new TreeMap<String, String>();
        try (Stream<Path> entries = Files.list(root)) {
            // Not what a build is writing and deleting meanwhile.
            for (Path entry : entries.filter(LuceneOnALunTest::isOfSources).toList()) {
                Path folder = Files.isDirectory(entry.resolve("src"))
                        ? entry.resolve("src")
                        : entry;
                add(root, folder, corpus);
            }
        }
        return corpus;
    }

    private static boolean isOfSources(Path entry) {
        String name = entry.getFileName().toString();
        return name.startsWith("lunar") || name.equals("docs") || name.endsWith(".md");
    }

    private static void add(Path root, Path folder, Map<String, String> corpus)
            throws IOException {
        try (Stream<Path> all = Files.walk(folder)) {
            for (Path file : (Iterable<Path>) all::iterator) {
                String path = root.relativize(file).toString();
                if ((path.endsWith(".java") || path.endsWith(".md")) && Files.isRegularFile(file)) {
                    corpus.put(path, Files.readString(file));
                }
            }
        }
    }

    private static void index(Directory directory, Map<String, String> corpus, boolean commitOften)
            throws IOException {
        var config = new IndexWriterConfig(new StandardAnalyzer()).setMaxBufferedDocs(40);
        try (var writer = new IndexWriter(directory, config)) {
            int count = 0;
            for (Map.Entry<String, String> file : corpus.entrySet()) {
                var document = new Document();
                document.add(new StringField("path", file.getKey(), Store.YES));
                document.add(new TextField("text", file.getValue(), Store.NO));
                writer.addDocument(document);
                if (commitOften && ++count % 100 == 0) {
                    writer.commit();
                }
            }
        }
    }

    /** Single words and pairs of words that follow each other, from anywhere in the corpus. */
    private List<Query> queries(Map<String, String> corpus) {
        List<String> texts = List.copyOf(corpus.values());
        List<Query> queries = new ArrayList<>();
        while (queries.size() < 150) {
            String[] words = texts.get(random.nextInt(texts.size())).toLowerCase(Locale.ROOT)
                    .split("[^a-z]+");
            int at = random.nextInt(Math.max(1, words.length - 1));
            if (at + 1 < words.length && words[at].length() > 2) {
                queries.add(new TermQuery(new Term("text", words[at])));
                queries.add(new PhraseQuery("text", words[at], words[at + 1]));
            }
        }
        return queries;
    }

    private static Map<Query, Set<String>> search(Directory directory, Iterable<Query> queries)
            throws IOException {
        Map<Query, Set<String>> hits = new HashMap<>();
        try (var reader = DirectoryReader.open(directory)) {
            var searcher = new IndexSearcher(reader);
            var stored = searcher.storedFields();
            for (Query query : queries) {
                Set<String> paths = new TreeSet<>();
                for (ScoreDoc hit : searcher.search(query, 10_000).scoreDocs) {
                    paths.add(stored.document(hit.doc).get("path"));
                }
                hits.put(query, paths);
            }
        }
        return hits;
    }

    private static void requireClean(Directory directory) throws IOException {
        var report = new ByteArrayOutputStream();
        try (var check = new CheckIndex(directory)) {
            check.setInfoStream(new PrintStream(report, false, StandardCharsets.UTF_8));
            assertThat(check.checkIndex().clean)
                    .as(() -> report.toString(StandardCharsets.UTF_8)).isTrue();
        }
    }
}
