package lunar.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The artifacts that users depend on: what describes them, and that documents and example projects name them right. */
class ArtifactsTest {
    private static final Path ROOT = Path.of("").toAbsolutePath().getParent();
    private static final Path CONSUMER = ROOT.resolve("lunar-it/src/test/consumer");
    private static final Pattern MAVEN = Pattern
            .compile("<groupId>org\\.lunar</groupId>\\s*<artifactId>([^<]+)</artifactId>");
    private static final Pattern COORDINATES = Pattern
            .compile("(?<![\\w.-])org\\.lunar:([a-z0-9-]+)");
    private static final Pattern REQUIRED = Pattern.compile("requires transitive ([a-z.]+);");

    private static Set<String> named(Path file, Pattern pattern) throws IOException {
        return pattern.matcher(Files.readString(file)).results().map(found -> found.group(1))
                .collect(Collectors.toCollection(TreeSet::new));
    }

    private static Set<String> published() throws IOException {
        Set<String> published = named(ROOT.resolve("lunar-bom/pom.xml"), MAVEN);
        assertThat(published).contains("lunar-starter", "lunar-initiator", "lunar-server");
        published.add("lunar-bom");
        return published;
    }

    @ParameterizedTest
    @ValueSource(strings = {"README.md", "docs/howto/java-library.md",
            "lunar-it/src/test/consumer/pom.xml", "lunar-it/src/test/consumer-kotlin/pom.xml",
            "lunar-it/src/test/consumer/build.gradle.kts"})
    void shouldBePublishedWhereTheyAreNamed(String file) throws IOException {
        Set<String> names = named(ROOT.resolve(file), MAVEN);
        names.addAll(named(ROOT.resolve(file), COORDINATES));
        assertThat(names).contains("lunar-bom", "lunar-starter").isSubsetOf(published());
    }

    @Test
    void shouldBeTheSameInBothBuildsOfTheConsumer() throws IOException {
        assertThat(named(CONSUMER.resolve("build.gradle.kts"), COORDINATES))
                .isEqualTo(named(CONSUMER.resolve("pom.xml"), MAVEN));
    }

    /** What the starter has on the class path, it has on the module path, and the modules that users compile with. */
    @Test
    void shouldBringTheSameModulesOnBothPaths() throws IOException {
        Path starter = ROOT.resolve("lunar-starter");
        Set<String> modules = new TreeSet<>();
        for (String artifact : named(starter.resolve("pom.xml"), MAVEN)) {
            modules.add(artifact.replace('-', '.'));
        }
        assertThat(modules.remove("lunar")).as("the parent").isTrue();
        modules.add("lunar.block");
        assertThat(named(starter.resolve("src/main/java/module-info.java"), REQUIRED))
                .isEqualTo(modules);
    }

    @Test
    void shouldBeDescribed() throws IOException {
        for (String parent : new String[]{"pom.xml", "lunar-bom/pom.xml"}) {
            assertThat(Files.readString(ROOT.resolve(parent))).as(parent).contains("<licenses>",
                    "<developers>");
        }
        try (Stream<Path> modules = Files.list(ROOT)) {
            for (Path pom : modules.map(module -> module.resolve("pom.xml"))
                    .filter(Files::isRegularFile).toList()) {
                assertThat(Files.readString(pom)).as(pom.toString()).contains("<name>Lunar")
                        .containsPattern("<description>[^<]{10,}</description>");
            }
        }
    }
}
