package lunar.bench.lucene;

import lunar.bench.figures.Figures;
import lunar.bench.harness.Arguments;
import lunar.bench.harness.Server;
import lunar.bench.harness.Spread;

import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.TreeSet;
import lunar.block.BlockDevice;
import lunar.block.Devices;
import lunar.lucene.LunarDirectory;
import org.apache.lucene.analysis.standard.StandardAnalyzer;
import org.apache.lucene.document.Document;
import org.apache.lucene.document.Field.Store;
import org.apache.lucene.document.TextField;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.IndexWriterConfig;
import org.apache.lucene.index.SerialMergeScheduler;
import org.apache.lucene.index.Term;
import org.apache.lucene.search.BooleanClause.Occur;
import org.apache.lucene.search.BooleanQuery;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.Query;
import org.apache.lucene.search.TermQuery;
import org.apache.lucene.store.Directory;
import org.apache.lucene.store.MMapDirectory;
import org.apache.lucene.store.NIOFSDirectory;

/**
 * Compares Lucene on Lunar's directory with Lucene on files: one thread indexes the same text, with a commit every 2000
 * documents, and merges it to one segment; then one thread runs two-word queries for their ten best hits with stored
 * text, on a newly opened directory and again. Files and devices are in the page cache; the LUN is served by {@code
 * lunar serve} in a separate process. Directories alternate in each round.
 */
public final class LuceneDirectories {
    private static final int LINES_PER_DOCUMENT = 40;
    private static final int MAX_FILE_BYTES = 1 << 20;
    private static final int DOCUMENTS_PER_COMMIT = 2000;
    private static final int HITS = 10;
    private static final String DEVICE_SIZE = "1GiB";

    private interface Kind {
        Directory open(boolean format) throws IOException;
    }

    private static final class Figures {
        final List<Double> indexSeconds = new ArrayList<>();
        final List<Double> firstPerSecond = new ArrayList<>();
        final List<Double> againPerSecond = new ArrayList<>();
    }

    private LuceneDirectories() {}

    /** Prints a table. See {@code scripts/bench}. */
    public static void main(String... args) throws Exception {
        var given = Arguments.parse(Map.of("corpus", "/usr/lib/python3", "rounds", "5", "queries",
                "3000", "mib", "24", "lunar", "./lunar", "dir", "lunar-bench/target/bench",
                "commit", "unknown"), args);
        Path folder = given.path("dir").resolve("lucene");
        Files.createDirectories(folder);
        List<String> documents = documents(given.path("corpus"), (long) given.number("mib") << 20);
        List<Query> queries = queries(documents, given.number("queries"));
        var out = new PrintStream(new FileOutputStream(FileDescriptor.out), true,
                StandardCharsets.UTF_8);
        long chars = documents.stream().mapToLong(String::length).sum();
        out.printf(Locale.ROOT, "%d documents, %.1f MiB of text, %d queries, commit %s%n",
                documents.size(), chars / (double) (1 << 20), queries.size(),
                given.text("commit"));
        try (Server server = Server.lunar(folder.resolve("serve.log"),
                List.of(given.path("lunar").toString(), "serve",
                        "file:" + folder.resolve("lun.img") + "?size=" + DEVICE_SIZE));
                BlockDevice memory = Devices.open("ram:" + DEVICE_SIZE);
                BlockDevice file = Devices.open(
                        "file:" + folder.resolve("disk.img") + "?size=" + DEVICE_SIZE);
                BlockDevice lun = Devices.open(server.uri(0))) {
            var kinds = new LinkedHashMap<String, Kind>();
            kinds.put("MMapDirectory", format -> new MMapDirectory(empty(folder, format)));
            kinds.put("NIOFSDirectory", format -> new NIOFSDirectory(empty(folder, format)));
            kinds.put("LunarDirectory on ram:", format -> lunar(memory, format));
            kinds.put("LunarDirectory on file:", format -> lunar(file, format));
            kinds.put("LunarDirectory on iscsi:", format -> lunar(lun, format));
            Map<String, Figures> figures = new LinkedHashMap<>();
            for (int round = 0; round <= given.number("rounds"); round++) {
                for (Map.Entry<String, Kind> kind : kinds.entrySet()) {
                    var into = round == 0 // to warm up
                            ? new Figures()
                            : figures.computeIfAbsent(kind.getKey(), _ -> new Figures());
                    measure(kind.getValue(), documents, queries, into);
                }
            }
            out.printf("%-26s %-28s %-34s %s%n", "median (min to max)", "index and merge, s",
                    "queries/s just opened", "queries/s again");
            figures.forEach((name, one) -> out.printf("%-26s %-28s %-34s %s%n", name,
                    Spread.of(one.indexSeconds).text(2), Spread.of(one.firstPerSecond).text(0),
                    Spread.of(one.againPerSecond).text(0)));
        }
    }

    private static Path empty(Path folder, boolean format) throws IOException {
        Path files = folder.resolve("files");
        Files.createDirectories(files);
        if (format) {
            try (var all = Files.newDirectoryStream(files)) {
                for (Path file : all) {
                    Files.delete(file);
                }
            }
        }
        return files;
    }

    private static Directory lunar(BlockDevice device, boolean format) throws IOException {
        if (format) {
            LunarDirectory.format(device);
        }
        return LunarDirectory.open(device);
    }

    private static void measure(Kind kind, List<String> documents, List<Query> queries,
            Figures into) throws IOException {
        long start = System.nanoTime();
        try (Directory directory = kind.open(true)) {
            var config = new IndexWriterConfig(new StandardAnalyzer())
                    .setMergeScheduler(new SerialMergeScheduler());
            try (var writer = new IndexWriter(directory, config)) {
                int count = 0;
                for (String text : documents) {
                    var document = new Document();
                    document.add(new TextField("text", text, Store.YES));
                    writer.addDocument(document);
                    if (++count % DOCUMENTS_PER_COMMIT == 0) {
                        writer.commit();
                    }
                }
                writer.forceMerge(1);
            }
        }
        into.indexSeconds.add((System.nanoTime() - start) / 1e9);
        try (Directory directory = kind.open(false);
                var reader = DirectoryReader.open(directory)) {
            into.firstPerSecond.add(search(reader, queries));
            into.againPerSecond.add(search(reader, queries));
        }
    }

    private static double search(DirectoryReader reader, List<Query> queries) throws IOException {
        var searcher = new IndexSearcher(reader);
        searcher.setQueryCache(null);
        var stored = searcher.storedFields();
        long characters = 0;
        long start = System.nanoTime();
        for (Query query : queries) {
            for (var hit : searcher.search(query, HITS).scoreDocs) {
                characters += stored.document(hit.doc).get("text").length();
            }
        }
        if (characters == 0) {
            throw new IOException("no hits found");
        }
        return queries.size() / ((System.nanoTime() - start) / 1e9);
    }

    /** Pieces of text files, in the order of their paths. */
    private static List<String> documents(Path corpus, long bytes) throws IOException {
        var paths = new TreeSet<Path>();
        Files.walkFileTree(corpus, new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
                if (attributes.isRegularFile() && attributes.size() <= MAX_FILE_BYTES) {
                    paths.add(file);
                }
                return FileVisitResult.CONTINUE;
            }
        });
        List<String> documents = new ArrayList<>();
        long taken = 0;
        for (Path path : paths) {
            byte[] content = Files.readAllBytes(path);
            String text = new String(content, StandardCharsets.UTF_8);
            if (taken >= bytes || text.indexOf('\0') >= 0) {
                continue;
            }
            List<String> lines = text.lines().toList();
            for (int at = 0; at < lines.size(); at += LINES_PER_DOCUMENT) {
                documents.add(String.join("\n",
                        lines.subList(at, Math.min(lines.size(), at + LINES_PER_DOCUMENT))));
            }
            taken += content.length;
        }
        return documents;
    }

    /** Pairs of words that are somewhere in the text. */
    private static List<Query> queries(List<String> documents, int count) {
        var random = new Random(1);
        List<Query> queries = new ArrayList<>();
        while (queries.size() < count) {
            String[] words = documents.get(random.nextInt(documents.size()))
                    .toLowerCase(Locale.ROOT).split("[^a-z]+", -1);
            String one = words[random.nextInt(Math.max(1, words.length))];
            String two = words[random.nextInt(Math.max(1, words.length))];
            if (one.length() > 2 && two.length() > 2) {
                queries.add(new BooleanQuery.Builder()
                        .add(new TermQuery(new Term("text", one)), Occur.SHOULD)
                        .add(new TermQuery(new Term("text", two)), Occur.SHOULD).build());
            }
        }
        return queries;
    }
}
