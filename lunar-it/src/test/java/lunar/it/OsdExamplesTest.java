package lunar.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import lunar.osd.store.ObjectStore;
import lunar.osd.store.ObjectStores;
import lunar.osd.target.OsdSpec;
import lunar.target.TargetServer;
import lunar.target.TargetSpec;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Compiles and runs every Java example of the documents on object stores, with a target that has one. */
class OsdExamplesTest {
    private static final List<String> DOCUMENTS = List.of("osd.md", "osd-device.md", "s3.md");
    private static final List<String> IMPORTS = List.of("java.io.*", "java.net.*",
            "java.nio.file.*", "java.util.stream.*", "lunar.initiator.*", "lunar.osd.client.*",
            "lunar.osd.store.*", "lunar.osd.target.*", "lunar.osd.wire.attribute.*",
            "lunar.osd.wire.page.*", "lunar.scsi.*", "lunar.target.*",
            "software.amazon.awssdk.auth.credentials.*", "software.amazon.awssdk.regions.*",
            "software.amazon.awssdk.services.s3.*");

    @TempDir
    Path folder;

    private final ObjectStore store = ObjectStores.inMemory();
    private TargetServer server;

    @BeforeEach
    void serve() throws IOException {
        server = TargetServer.builder().portal("127.0.0.1", 0)
                .target(TargetSpec.of("iqn.2026-11.org.lunar:objects")
                        .withLun(0, OsdSpec.of(store)))
                .start();
        Files.write(folder.resolve("film.mp4"), new byte[3 << 20]);
    }

    @AfterEach
    void stop() throws IOException {
        server.close();
        store.close();
    }

    private static Path docs() {
        Path here = Path.of("").toAbsolutePath();
        while (!Files.isDirectory(here.resolve("lunar-it"))) {
            here = here.getParent();
        }
        return here.resolve("docs");
    }

    static Stream<Recipe> examples() throws IOException {
        Stream<Recipe> all = Stream.empty();
        for (String document : DOCUMENTS) {
            all = Stream.concat(all, Recipe.of(docs().resolve(document)).stream());
        }
        return all;
    }

    @ParameterizedTest
    @MethodSource("examples")
    void shouldCompileAndWork(Recipe example) throws Exception {
        Recipe here = example
                .replacing("127.0.0.1:3260",
                        "127.0.0.1:" + server.portals().getFirst().getPort())
                .replacing("\"127.0.0.1\", 3260", "\"127.0.0.1\", 0")
                .replacing("film.mp4", folder.resolve("film.mp4").toString());
        var runner = new RecipeRunner(
                IMPORTS.stream().map(each -> "import " + each + ";").toList());
        List<String> printed = runner.run(here);
        assertThat(printed).containsAll(example.output());
    }

    @Test
    void shouldFindTheExamplesThereAre() throws IOException { assertThat(examples()).hasSize(4); }
}
