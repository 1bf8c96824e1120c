package lunar.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.BiConsumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Checks rules of style in the sources of all modules. */
class StyleTest {
    private static final int MAX_FILE_LINES = 600;
    private static final int MAX_COMMENT_COLUMNS = 120;
    private static final String MAIN = "src/main/java";
    private static final Path ROOT = root();

    /** Written so that this file does not break its own rule. */
    private static final Pattern LEFT_OVER = Pattern
            .compile("\\b(TO" + "DO|FIX" + "ME|XX" + "X)\\b");

    private static final Pattern COMMENT = Pattern.compile("^\\s*(//|/\\*|\\*)");
    private static final Pattern PUBLIC_TYPE = Pattern.compile(
            "^ {0,8}public (?:(?:static|final|sealed|non-sealed|abstract) )*(?:class|interface|@interface|record|enum) (\\w+)");
    private static final Pattern VAGUE_NAME = Pattern
            .compile("\\w*(Util|Utils|Manager|Impl|Helper)\\.java");
    private static final Pattern PROVIDES = Pattern
            .compile("provides\\s+([\\w.]+)\\s+with\\s+([\\w.,\\s]+);");

    private static Path root() {
        Path here = Path.of("").toAbsolutePath();
        while (!Files.isDirectory(here.resolve("lunar-it"))) {
            here = here.getParent();
        }
        return here;
    }

    private static List<Path> modules() throws IOException {
        try (Stream<Path> entries = Files.list(ROOT)) {
            return entries.filter(path -> path.getFileName().toString().startsWith("lunar-"))
                    .sorted()
                    .toList();
        }
    }

    private static List<Path> files(Path folder, String suffix) throws IOException {
        if (!Files.isDirectory(folder)) {
            return List.of();
        }
        try (Stream<Path> all = Files.walk(folder)) {
            return all.filter(Files::isRegularFile).filter(path -> path.toString().endsWith(suffix))
                    .sorted().toList();
        }
    }

    /** Java sources below a folder of each module. */
    private static List<Path> sources(String folder) throws IOException {
        var sources = new ArrayList<Path>();
        for (Path module : modules()) {
            sources.addAll(files(module.resolve(folder), ".java"));
        }
        assertThat(sources).as("sources in " + folder).hasSizeGreaterThan(10);
        return sources;
    }

    /** Looks at every line of these sources; the lines it adds to the list are wrong. */
    private static List<String> wrongLines(String folder, BiConsumer<String, Runnable> rule)
            throws IOException {
        var wrong = new ArrayList<String>();
        for (Path source : sources(folder)) {
            List<String> lines = Files.readAllLines(source);
            for (int i = 0; i < lines.size(); i++) {
                String where = ROOT.relativize(source) + ":" + (i + 1) + ": "
                        + lines.get(i).strip();
                rule.accept(lines.get(i), () -> wrong.add(where));
            }
        }
        return wrong;
    }

    @Test
    void shouldDescribeEveryPackage() throws IOException {
        var without = new TreeSet<Path>();
        for (Path source : sources(MAIN)) {
            Path folder = source.getParent();
            if (!folder.endsWith(MAIN) && !Files.exists(folder.resolve("package-info.java"))) {
                without.add(ROOT.relativize(folder));
            }
        }
        assertThat(without).as("packages without package-info.java").isEmpty();
    }

    @Test
    void shouldMarkEveryPackageForNullness() throws IOException {
        var without = new ArrayList<Path>();
        for (Path source : sources(MAIN)) {
            if (source.endsWith("package-info.java")
                    && !Files.readString(source).contains("@NullMarked")) {
                without.add(ROOT.relativize(source));
            }
        }
        assertThat(without).as("packages that are not @NullMarked").isEmpty();
    }

    @Test
    void shouldKeepFilesShort() throws IOException {
        var tooLong = new ArrayList<String>();
        for (Path source : sources(MAIN)) {
            int lines = Files.readAllLines(source).size();
            if (lines > MAX_FILE_LINES) {
                tooLong.add(ROOT.relativize(source) + ": " + lines + " lines");
            }
        }
        assertThat(tooLong).as("files to split").isEmpty();
    }

    @Test
    void shouldKeepCommentsInColumns() throws IOException {
        assertThat(wrongLines(MAIN, (line, wrong) -> {
            if (line.length() > MAX_COMMENT_COLUMNS && COMMENT.matcher(line).find()) {
                wrong.run();
            }
        })).as("comments beyond column " + MAX_COMMENT_COLUMNS).isEmpty();
    }

    @Test
    void shouldLeaveNoUnfinishedWorkMarkers() throws IOException {
        for (String folder : List.of(MAIN, "src/test/java")) {
            assertThat(wrongLines(folder, (line, wrong) -> {
                if (LEFT_OVER.matcher(line).find()) {
                    wrong.run();
                }
            })).as("notes of unfinished work").isEmpty();
        }
    }

    @Test
    void shouldNotPrintStackTraces() throws IOException {
        assertThat(wrongLines(MAIN, (line, wrong) -> {
            if (line.contains("printStackTrace()")) {
                wrong.run();
            }
        })).isEmpty();
    }

    @Test
    void shouldNameTypesAfterWhatTheyAre() throws IOException {
        assertThat(sources(MAIN)).as("vague names")
                .noneMatch(path -> VAGUE_NAME.matcher(path.getFileName().toString()).matches());
    }

    @Test
    void shouldDescribeEveryPublicType() throws IOException {
        var without = new ArrayList<String>();
        for (Path source : sources(MAIN)) {
            List<String> lines = Files.readAllLines(source);
            for (int i = 0; i < lines.size(); i++) {
                Matcher type = PUBLIC_TYPE.matcher(lines.get(i));
                if (type.find() && !hasComment(lines, i)) {
                    without.add(ROOT.relativize(source) + ": " + type.group(1));
                }
            }
        }
        assertThat(without).as("public types without Javadoc").isEmpty();
    }

    /** Whether a comment ends right above a declaration, or above its annotations. */
    private static boolean hasComment(List<String> lines, int declaration) {
        int above = declaration - 1;
        while (above >= 0 && !lines.get(above).strip()
                .matches(".*\\*/|.*;|}||.*(class|interface|enum|record) .*\\{")) {
            above--; // lines of annotations
        }
        return above >= 0 && lines.get(above).strip().endsWith("*/");
    }

    /** On the module path the first counts, on the class path the second. */
    @Test
    void shouldNameSameProvidersInModuleAndServicesFiles() throws IOException {
        for (Path module : modules()) {
            Path descriptor = module.resolve(MAIN).resolve("module-info.java");
            if (Files.exists(descriptor)) {
                assertThat(servicesOf(module)).as("META-INF/services of " + module.getFileName())
                        .isEqualTo(providedBy(Files.readString(descriptor)));
            }
        }
    }

    private static Map<String, Set<String>> providedBy(String descriptor) {
        var provided = new TreeMap<String, Set<String>>();
        Matcher matcher = PROVIDES.matcher(descriptor);
        while (matcher.find()) {
            provided.put(matcher.group(1),
                    new TreeSet<>(List.of(matcher.group(2).strip().split("\\s*,\\s*"))));
        }
        return provided;
    }

    private static Map<String, Set<String>> servicesOf(Path module) throws IOException {
        var services = new TreeMap<String, Set<String>>();
        for (Path file : files(module.resolve("src/main/resources/META-INF/services"), "")) {
            var names = new TreeSet<String>();
            Files.readAllLines(file).stream().map(line -> line.replaceFirst("#.*", "").strip())
                    .filter(line -> !line.isEmpty()).forEach(names::add);
            services.put(file.getFileName().toString(), names);
        }
        return services;
    }
}
