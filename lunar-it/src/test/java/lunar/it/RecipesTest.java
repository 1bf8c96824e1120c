package lunar.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import lunar.block.BlockDevice;
import lunar.block.Devices;
import lunar.iscsi.LoginException;
import lunar.iscsi.login.ChapAlgorithm;
import lunar.iscsi.login.ChapCredentials;
import lunar.iscsi.login.ChapPolicy;
import lunar.iscsi.login.Secret;
import lunar.target.InitiatorSpec;
import lunar.target.TargetServer;
import lunar.target.TargetSpec;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Runs every Java example of the README and of the recipes, each with a target of its own, and compares the output. */
class RecipesTest {
    private static final String DEMO = "iqn.2026-11.org.lunar:demo";
    private static final String VAULT = "iqn.2026-11.org.lunar:vault";
    private static final Path ROOT = root();
    private static final Path RECIPES = ROOT.resolve("docs/recipes.md");

    @TempDir
    Path folder;

    private final List<BlockDevice> devices = new ArrayList<>();
    private TargetServer server;
    private RecipeRunner runner;

    private static Path root() {
        Path here = Path.of("").toAbsolutePath();
        while (!Files.isDirectory(here.resolve("lunar-it"))) {
            here = here.getParent();
        }
        return here;
    }

    private BlockDevice ram() throws IOException {
        BlockDevice device = Devices.open("ram:64MiB");
        devices.add(device);
        return device;
    }

    /** Provides what the recipes assume: a target of two LUNs at two portals, and one with secrets. */
    @BeforeEach
    void serve() throws Exception {
        var backup = new ChapCredentials("backup", secret("backup"));
        var array = new ChapCredentials("array", secret("array"));
        server = TargetServer.builder().portal("127.0.0.1", 0).portal("127.0.0.1", 0)
                .target(TargetSpec.of(DEMO).withLun(0, ram()).withLun(1, ram()))
                .target(TargetSpec.of(VAULT).withLun(0, ram())
                        .withInitiator(InitiatorSpec.of("iqn.2026-11.org.example:host2"))
                        .withChap(new ChapPolicy(
                                List.of(ChapAlgorithm.SHA3_256, ChapAlgorithm.SHA256),
                                name -> name.equals(backup.name())
                                        ? Optional.of(backup.secret())
                                        : Optional.empty(),
                                Optional.of(array))))
                .start();
        runner = new RecipeRunner(Recipe.imports(RECIPES));
    }

    private Secret secret(String user) throws IOException {
        String text = "a-secret-of-" + user;
        Files.writeString(folder.resolve(user + ".secret"), text + "\n");
        return Secret.of(text);
    }

    @AfterEach
    void stop() throws IOException {
        server.close();
        assertThat(server.bufferBytesInUse()).as("memory lent after the end").isZero();
        for (BlockDevice device : devices) {
            device.close();
        }
    }

    static Stream<Recipe> recipes() throws IOException {
        return Stream.concat(Recipe.of(ROOT.resolve("README.md")).stream(),
                Recipe.of(RECIPES).stream());
    }

    /** Replaces names of the reader's machine by those of this one. */
    private Recipe here(Recipe recipe) throws Exception {
        int port = server.portals().getFirst().getPort();
        if (recipe.text().contains("file:disk.img")) {
            image(folder.resolve("disk.img"));
        }
        return recipe
                .replacing("Listen.on(\"127.0.0.1\", 3260)", "Listen.on(\"127.0.0.1\", 0)")
                .replacing(".portal(\"127.0.0.1\", 3260)", ".portal(\"127.0.0.1\", 0)")
                .replacing("\"127.0.0.1\", 3260", "\"127.0.0.1\", " + port)
                .replacing("127.0.0.1:3260", "127.0.0.1:" + port)
                .replacing("/etc/lunar/", folder + "/")
                .replacing("file:disk.img", "file:" + folder + "/disk.img")
                .replacing("Duration.ofHours(1)", "Duration.ofMillis(1)");
    }

    private void image(Path image) throws Exception {
        Path etc = Files.createDirectories(folder.resolve("tree/etc"));
        Files.writeString(etc.resolve("hostname"), "lunar\n");
        Peer.assume("mke2fs");
        Peer.run("mke2fs", "-q", "-t", "ext4", "-d", folder.resolve("tree").toString(),
                image.toString(), "16M").succeeded();
    }

    @ParameterizedTest
    @MethodSource("recipes")
    void shouldCompileAndWork(Recipe recipe) throws Exception {
        assertThat(runner.run(here(recipe))).as(recipe.toString()).isEqualTo(recipe.output());
    }

    @Test
    void shouldFindTheRecipesThereAre() throws Exception {
        assertThat(recipes()).hasSizeGreaterThanOrEqualTo(20).extracting(Recipe::chapter)
                .contains("Use a LUN from Java", "Serve from Java", "Read and write a LUN");
        for (Path document : List.of(ROOT.resolve("README.md"), RECIPES)) {
            long fences = Files.readAllLines(document).stream()
                    .filter(line -> line.strip().startsWith("```java")).count();
            assertThat(Recipe.of(document)).hasSize((int) fences);
        }
    }

    @Test
    void shouldFailWhereARecipeIsWrong() throws Exception {
        var wrong = new Recipe(RECIPES, 77, "wrong", "int one = 1;\nString two = one;");
        assertThatThrownBy(() -> runner.run(wrong)).isInstanceOf(AssertionError.class)
                .hasMessageContaining("recipes.md:78: incompatible types");
        assertThatThrownBy(() -> runner.run(new Recipe(RECIPES, 1, "", "assert false : 7;")))
                .isInstanceOf(AssertionError.class).hasRootCauseMessage("7");
        var refused = new Recipe(RECIPES, 1, "",
                "Initiator.create(\"iqn.2026-11.org.example:host2\")"
                        + ".login(\"iscsi://127.0.0.1:3260/" + VAULT + "\");");
        assertThatThrownBy(() -> runner.run(here(refused))).isInstanceOf(LoginException.class);
        var printing = new Recipe(RECIPES, 1, "", "System.out.println(2);   // prints 3");
        assertThat(runner.run(printing)).containsExactly("2").isNotEqualTo(printing.output());
    }
}
