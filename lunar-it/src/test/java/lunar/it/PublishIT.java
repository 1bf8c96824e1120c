package lunar.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Publishes the libraries to a repository of files and builds a separate project with them: with the BOM, on the class
 * path and on the module path. The user's own Maven repository stays untouched.
 */
@Timeout(value = 1, unit = TimeUnit.HOURS)
class PublishIT {
    private static final Path ROOT = Path.of("").toAbsolutePath().getParent();
    private static final Pattern VERSION = Pattern.compile("<version>([^<]+)</version>");
    private static final Pattern MODULE = Pattern.compile("<module>([^<]+)</module>");
    private static final List<String> PROGRAMS = List.of("lunar-cli", "lunar-bench", "lunar-it");

    @TempDir
    Path temp;

    private record Run(int status, String output) {}

    private Run run(Path directory, List<String> command) throws Exception {
        Path output = Files.createTempFile(temp, "output", ".log");
        var builder = new ProcessBuilder(command).directory(directory.toFile())
                .redirectErrorStream(true).redirectOutput(output.toFile());
        builder.environment().put("JAVA_HOME", System.getProperty("java.home"));
        Process process = builder.start();
        try {
            assertThat(process.waitFor(1_800, TimeUnit.SECONDS)).as(command + " ends").isTrue();
        } finally {
            process.descendants().forEach(ProcessHandle::destroyForcibly);
            process.destroyForcibly();
        }
        return new Run(process.exitValue(), Files.readString(output));
    }

    private Run succeeds(Path directory, List<String> command) throws Exception {
        Run run = run(directory, command);
        assertThat(run.status).as(run.output).isZero();
        return run;
    }

    @Test
    void shouldServeAConsumerProject() throws Exception {
        Path repository = temp.resolve("repository");
        Run published = run(ROOT, List.of("scripts/publish", repository.toUri().toString(),
                "-q", "-Dmaven.javadoc.skip"));
        assumeFalse(published.output.contains("Could not transfer artifact org.apache.maven"),
                "no Maven repository with the plugins that publish is in reach");
        assertThat(published.status).as(published.output).isZero();
        String version = version();
        assertComplete(repository.resolve("org/lunar"), version);

        Path project = temp.resolve("project");
        copy(Path.of("src/test/consumer"), project);
        Path local = localRepository();
        succeeds(project, List.of("mvn", "-B", "-ntp", "-q", "-Dmaven.repo.local=" + local,
                "-Dlunar.repository=" + repository.toUri(), "-Dlunar.version=" + version,
                "compile", "dependency:build-classpath",
                "-Dmdep.outputFile=" + temp.resolve("classpath")));
        String jars = Files.readString(temp.resolve("classpath")).strip();
        assertThat(jars).contains("lunar-initiator-" + version, "lunar-tcp-" + version);
        Path java = Path.of(System.getProperty("java.home"), "bin", "java");
        String classes = project.resolve("target/classes").toString();
        assertThat(succeeds(project, List.of(java.toString(), "-cp",
                classes + File.pathSeparator + jars, "org.example.storage.Main")).output)
                .contains("written by a user of Lunar, class path\n");
        assertThat(succeeds(project, List.of(java.toString(), "--module-path",
                classes + File.pathSeparator + jars, "--module",
                "org.example.storage/org.example.storage.Main")).output)
                .contains("written by a user of Lunar, module path\n");
    }

    private static String version() throws IOException {
        Matcher version = VERSION.matcher(Files.readString(ROOT.resolve("lunar-bom/pom.xml")));
        assertThat(version.find()).isTrue();
        return version.group(1);
    }

    /** Each library is there with its sources; programs are not. The BOM names exactly the libraries. */
    private static void assertComplete(Path group, String version) throws IOException {
        var libraries = new ArrayList<String>();
        Matcher module = MODULE.matcher(Files.readString(ROOT.resolve("pom.xml")));
        while (module.find()) {
            libraries.add(module.group(1));
        }
        libraries.removeAll(PROGRAMS);
        try (Stream<Path> published = Files.list(group)) {
            assertThat(published.map(path -> path.getFileName().toString()))
                    .containsExactlyInAnyOrderElementsOf(
                            Stream.concat(libraries.stream(), Stream.of("lunar")).toList());
        }
        libraries.remove("lunar-bom");
        String bom = Files.readString(ROOT.resolve("lunar-bom/pom.xml"));
        for (String library : libraries) {
            assertThat(bom).contains("<artifactId>" + library + "</artifactId>");
            try (Stream<Path> files = Files.list(group.resolve(library).resolve(version))) {
                assertThat(files.map(path -> path.getFileName().toString())).as(library)
                        .anyMatch(name -> name.endsWith("-sources.jar"))
                        .anyMatch(name -> name.matches(".*[0-9]\\.jar"))
                        .anyMatch(name -> name.endsWith(".pom"));
            }
        }
        assertThat(bom.split("<artifactId>lunar-", -1)).as("the BOM itself, and the libraries")
                .hasSize(libraries.size() + 2);
    }

    /** A local repository that borrows what the user's own has, but for Lunar. */
    private Path localRepository() throws IOException {
        Path own = Path.of(System.getProperty("user.home"), ".m2", "repository");
        Path local = temp.resolve("local");
        link(own, local, "org");
        link(own.resolve("org"), local.resolve("org"), "lunar");
        return local;
    }

    private static void link(Path from, Path to, String without) throws IOException {
        Files.createDirectories(to);
        if (!Files.isDirectory(from)) {
            return; // Maven keeps it elsewhere
        }
        try (Stream<Path> entries = Files.list(from)) {
            for (Path entry : entries.filter(Files::isDirectory).toList()) {
                if (!entry.getFileName().toString().equals(without)) {
                    Files.createSymbolicLink(to.resolve(entry.getFileName()), entry);
                }
            }
        }
    }

    private static void copy(Path from, Path to) throws IOException {
        try (Stream<Path> files = Files.walk(from)) {
            for (Path file : files.filter(Files::isRegularFile).toList()) {
                Path copied = to.resolve(from.relativize(file).toString());
                Files.createDirectories(copied.getParent());
                Files.copy(file, copied);
            }
        }
    }
}
