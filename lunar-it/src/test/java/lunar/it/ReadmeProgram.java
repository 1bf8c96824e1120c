package lunar.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;

/**
 * A program of the README's Java examples, literally but for the ports: each server uses its LUN from Java instead of
 * sleeping for an hour.
 */
final class ReadmeProgram {
    /** Name of the class, in the consumer project. */
    static final String NAME = "org.example.storage.ReadmeExamples";

    private static final String SLEEP = "Thread.sleep(Duration.ofHours(1));";
    private static final String DEMO = "iqn.2026-11.org.lunar:demo";
    private static final String SERVED = "iqn.2026-11.org.example:disk";

    private ReadmeProgram() {}

    /** Returns the source of the program. */
    static String source(Path readme) throws IOException {
        List<Recipe> recipes = Recipe.of(readme);
        assertThat(recipes).as("examples of the README: initiator, target, server").hasSize(3);
        String initiator = recipes.get(0).text();
        assertThat(initiator).contains("\"iscsi://127.0.0.1:3260/" + DEMO + "\"");
        return """
                package org.example.storage;

                import java.lang.foreign.Arena;
                import java.lang.foreign.MemorySegment;
                import java.util.List;
                import lunar.block.Devices;
                import lunar.initiator.Initiator;
                import lunar.scsi.Lun;
                import lunar.server.ServerPlan;
                import lunar.server.StorageServer;
                import lunar.target.TargetServer;
                import lunar.target.TargetSpec;

                public final class ReadmeExamples {
                    private static void use(int port, String target) throws Exception {
                %s
                    }

                    private static void serveDevice() throws Exception {
                %s
                    }

                    private static void servePlan() throws Exception {
                %s
                    }

                    public static void main(String[] args) throws Exception {
                        serveDevice();
                        servePlan();
                        System.out.println("examples of the README, "
                                + (ReadmeExamples.class.getModule().isNamed()
                                        ? "module path" : "class path"));
                    }
                }
                """.formatted(
                initiator.replace("127.0.0.1:3260/" + DEMO + "\"",
                        "127.0.0.1:\" + port + \"/\" + target"),
                served(recipes.get(1), DEMO), served(recipes.get(2), SERVED));
    }

    private static String served(Recipe recipe, String target) {
        assertThat(recipe.text()).contains(SLEEP, "\"127.0.0.1\", 3260", "\"" + target + "\"");
        return recipe.text().replace("\"127.0.0.1\", 3260", "\"127.0.0.1\", 0").replace(SLEEP,
                "use(server.portals().getFirst().getPort(), \"" + target + "\");");
    }
}
