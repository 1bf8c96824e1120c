package lunar.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeFalse;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Publishes the libraries to a repository of files and builds separate projects with them, with the BOM: by Maven and,
 * where it is installed, Gradle; in Java, on the class path and on the module path, and in Kotlin. The user's own Maven
 * repository stays untouched, except that it keeps downloaded plugins.
 */
@Timeout(value = 1, unit = TimeUnit.HOURS)
class PublishIT {
    private static final Path ROOT = Path.of("").toAbsolutePath().getParent();
    private static final Pattern VERSION = Pattern.compile("<version>([^<]+)</version>");
    private static final Pattern MODULE = Pattern.compile("<module>([^<]+)</module>");
    private static final List<String> PROGRAMS = List.of("lunar-cli", "lunar-bench", "lunar-it");
    private static final String MAIN = "org.example.storage.Main";

    /** What Maven prints when it cannot reach its repositories; a missing artifact of Lunar is a failure. */
    private static final Pattern OUT_OF_REACH = Pattern.compile(
            "Could not transfer artifact (?!org\\.lunar)"
                    + "|(?<!\\S)(?!org\\.lunar)\\S+ failed to transfer from ");

    /** The first Gradle that runs on Java 25 is 9.1. */
    private static final Pattern GRADLE = Pattern.compile("(?m)^Gradle (\\d+)\\.(\\d+)");

    @TempDir
    static Path temp;

    private static Path repository;
    private static String version;
    private static Path local;

    private record Run(int status, String output) {}

    private static Run run(Path directory, List<String> command) throws Exception {
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

    private static Run succeeds(Path directory, List<String> command) throws Exception {
        Run run = run(directory, command);
        assertThat(run.status).as(run.output).isZero();
        return run;
    }

    @BeforeAll
    static void publish() throws Exception {
        repository = temp.resolve("repository");
        Run published = run(ROOT, List.of("scripts/publish", repository.toString(), "-q",
                "-Dmaven.javadoc.skip"));
        assumeFalse(OUT_OF_REACH.matcher(published.output).find(),
                "no Maven repository with the plugins that publish is in reach");
        assertThat(published.status).as(published.output).isZero();
        version = version();
        assertComplete(repository.resolve("org/lunar"));
        local = localRepository();
    }

    @Test
    void shouldServeAMavenProject() throws Exception {
        Path project = javaProject("maven");
        String jars = build(project);
        assertThat(jars).contains("lunar-initiator-" + version, "lunar-tcp-" + version);
        String classes = project.resolve("target/classes").toString();
        String path = classes + File.pathSeparator + jars;
        for (String program : List.of(MAIN, ReadmeProgram.NAME)) {
            String says = program.equals(MAIN)
                    ? "written by a user of Lunar, "
                    : "examples of the README, ";
            assertThat(java("-cp", path, program).output).contains(says + "class path\n");
            assertThat(java("--module-path", path, "--module",
                    "org.example.storage/" + program).output).contains(says + "module path\n");
        }
        assertNamesMissingTransport(path);
    }

    /** A program without a transport is told which module has one. */
    private static void assertNamesMissingTransport(String path) throws Exception {
        String without = Stream.of(path.split(File.pathSeparator))
                .filter(jar -> !jar.contains("lunar-tcp-"))
                .collect(Collectors.joining(File.pathSeparator));
        Run run = run(temp, List.of(javaCommand(), "-cp", without, MAIN));
        assertThat(run.status).as(run.output).isNotZero();
        assertThat(run.output).contains("no transport for iscsi: org.lunar:lunar-tcp is missing at"
                + " run time; add it, or org.lunar:lunar-starter, to the dependencies");
    }

    @Test
    void shouldServeAKotlinProject() throws Exception {
        Path project = temp.resolve("kotlin");
        copy(Path.of("src/test/consumer-kotlin"), project);
        String path = project.resolve("target/classes") + File.pathSeparator + build(project);
        Path image = temp.resolve("kotlin.img");
        assertThat(java("-cp", path, "org.example.storage.MainKt",
                "file:" + image + "?size=1MiB").output).contains("written from Kotlin\n");
        assertThat(image).hasSize(1 << 20);
    }

    @Test
    void shouldServeAGradleProject() throws Exception {
        assumeTrue(hasGradle(), "no Gradle 9.1 or later on the PATH");
        Path project = javaProject("gradle");
        for (String program : List.of(MAIN, ReadmeProgram.NAME)) {
            assertThat(succeeds(project, List.of("gradle", "--no-daemon", "--offline", "-q", "-g",
                    temp.resolve("gradle-home").toString(), "-Plunar.repository="
                            + repository.toUri(),
                    "-Plunar.version=" + version, "-Pmain=" + program, "run",
                    "runOnClassPath")).output).contains(", module path\n", ", class path\n");
        }
    }

    private static boolean hasGradle() throws Exception {
        try {
            Matcher found = GRADLE.matcher(run(temp, List.of("gradle", "--version")).output);
            return found.find() && (Integer.parseInt(found.group(1)) > 9
                    || (found.group(1).equals("9") && Integer.parseInt(found.group(2)) > 0));
        } catch (IOException e) {
            return false; // none at all
        }
    }

    /** The consumer project in Java, with the examples of the README. */
    private static Path javaProject(String name) throws IOException {
        Path project = temp.resolve(name);
        copy(Path.of("src/test/consumer"), project);
        Files.writeString(
                project.resolve("src/main/java/" + ReadmeProgram.NAME.replace('.', '/') + ".java"),
                ReadmeProgram.source(ROOT.resolve("README.md")));
        return project;
    }

    /** Compiles a project by Maven; returns the class path of its dependencies. */
    private static String build(Path project) throws Exception {
        Path classPath = project.resolve("classpath");
        Run built = run(project, List.of("mvn", "-B", "-ntp", "-q",
                "-Dmaven.repo.local=" + local, "-Dlunar.repository=" + repository.toUri(),
                "-Dlunar.version=" + version, "compile", "dependency:build-classpath",
                "-Dmdep.outputFile=" + classPath));
        assumeFalse(OUT_OF_REACH.matcher(built.output).find(),
                "no Maven repository with the plugins of " + project.getFileName()
                        + " is in reach");
        assertThat(built.status).as(built.output).isZero();
        return Files.readString(classPath).strip();
    }

    private static Run java(String... arguments) throws Exception {
        var command = new ArrayList<>(List.of(javaCommand()));
        command.addAll(List.of(arguments));
        return succeeds(temp, command);
    }

    private static String javaCommand() {
        return Path.of(System.getProperty("java.home"), "bin", "java").toString();
    }

    private static String version() throws IOException {
        Matcher version = VERSION.matcher(Files.readString(ROOT.resolve("lunar-bom/pom.xml")));
        assertThat(version.find()).isTrue();
        return version.group(1);
    }

    /** Each library is there with its sources; programs are not. The BOM names exactly the libraries. */
    private static void assertComplete(Path group) throws IOException {
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
    private static Path localRepository() throws IOException {
        Path own = Path.of(System.getProperty("user.home"), ".m2", "repository");
        Path made = temp.resolve("local");
        link(own, made, "org");
        link(own.resolve("org"), made.resolve("org"), "lunar");
        return made;
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
