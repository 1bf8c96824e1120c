package lunar.cli;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.stream.Collectors;
import lunar.block.DeviceUri;
import lunar.block.Size;
import lunar.block.StorageException;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code lunar serve}: a target until it is told to end. */
@Command(name = "serve",
        description = "Serve devices to iSCSI initiators, as LUN 0, 1, ... of a target. SIGTERM "
                + "or Ctrl-C ends it cleanly.",
        footer = {
                "", "Examples:",
                "  lunar serve ram:1GiB 'file:disk.img?size=10GiB'",
                "  lunar serve disk:/dev/sdb --portal 0.0.0.0:3260 --chap backup:@secret.txt",
                "  lunar serve --config lunar.toml"})
final class ServeCommand extends DeviceCommand {
    @Parameters(arity = "0..*", paramLabel = "URI",
            description = "Devices; the first one is LUN 0.")
    private List<String> uris = new ArrayList<>();

    @Option(names = "--portal", paramLabel = "HOST:PORT", converter = Portal.Converter.class,
            description = "Where to listen; may be repeated. Port 0 is a free one. Default: "
                    + "127.0.0.1:3260.")
    private List<Portal> portals = new ArrayList<>();

    @Option(names = "--iqn", paramLabel = "IQN",
            description = "The target's name. The default is told at the start.")
    private @Nullable String iqn;

    @Option(names = "--chap", paramLabel = "USER:@FILE",
            description = "Who may log in; the file holds the secret.")
    private @Nullable String chap;

    @Option(names = "--mutual-chap", paramLabel = "USER:@FILE",
            description = "How the target proves itself to initiators that ask.")
    private @Nullable String mutualChap;

    @Option(names = "--allow-anonymous",
            description = "Let everybody log in even where other machines can connect.")
    private boolean allowAnonymous;

    @Option(names = "--header-digest", paramLabel = "CHOICE", converter = Digest.Converter.class,
            description = "CRC32C of headers: none, allow, prefer, require. Default: allow.")
    private @Nullable Digest headerDigest;

    @Option(names = "--data-digest", paramLabel = "CHOICE", converter = Digest.Converter.class,
            description = "CRC32C of data: none, allow, prefer, require. Default: allow.")
    private @Nullable Digest dataDigest;

    @Option(names = "--state", paramLabel = "DIR",
            description = "Where reservations and saved mode pages are kept, so that they outlive "
                    + "the server. Default: nowhere.")
    private @Nullable Path state;

    @Option(names = "--config", paramLabel = "FILE",
            description = "Targets and options from a TOML file; what the command line says "
                    + "goes first.")
    private @Nullable Path config;

    ServeCommand(Console console) { super(console); }

    @Override
    int execute() throws Exception {
        ServePlan plan = plan();
        try (var running = RunningServer.start(plan, console())) {
            Thread hook = closeAtSignal(running);
            announce(running);
            if (iqn == null && !uris.isEmpty()) {
                console().remark("the target's name is " + RunningServer.DEFAULT_IQN
                        + "; --iqn gives it another");
            }
            waitForEnd(hook);
        }
        return 0;
    }

    /** The command line goes first, then the config file, then the defaults. */
    private ServePlan plan() throws Failure {
        if (mutualChap != null && chap == null) {
            throw wrongUsage("--mutual-chap needs --chap too: the initiator proves itself first");
        }
        var file = config == null
                ? new ConfigFile(List.of(), List.of(), false, Optional.empty(), Optional.empty(),
                        Optional.empty())
                : ConfigFile.read(config);
        var targets = new ArrayList<ServePlan.Target>();
        if (!uris.isEmpty()) {
            targets.add(new ServePlan.Target(iqn == null ? RunningServer.DEFAULT_IQN : iqn, "",
                    uris.stream().map(ServePlan.Lun::of).toList(), Optional.ofNullable(chap),
                    Optional.ofNullable(mutualChap)));
        } else if (iqn != null) {
            throw wrongUsage("--iqn names the target of the devices on the command line,"
                    + " and there are none; name one, or write the iqn into the config file");
        }
        for (ServePlan.Target target : file.targets()) {
            targets.add(chap == null
                    ? target
                    : new ServePlan.Target(target.iqn(), target.alias(), target.luns(),
                            Optional.of(chap), Optional.ofNullable(mutualChap)));
        }
        if (targets.isEmpty()) {
            throw wrongUsage("nothing to serve: name a device, for example 'lunar serve ram:1GiB',"
                    + " or a --config file with targets");
        }
        return new ServePlan(listenOn(file), targets, allowAnonymous || file.allowAnonymous(),
                headerDigest == null ? file.headerDigest().orElse(Digest.ALLOW) : headerDigest,
                dataDigest == null ? file.dataDigest().orElse(Digest.ALLOW) : dataDigest,
                Optional.ofNullable(state).or(file::state));
    }

    private List<Portal> listenOn(ConfigFile file) {
        List<Portal> wanted = portals.isEmpty() ? file.portals() : portals;
        return wanted.isEmpty() ? List.of(Portal.DEFAULT) : wanted;
    }

    private void announce(RunningServer running) {
        String portals = running.portals().stream().map(Portal::text)
                .collect(Collectors.joining(","));
        for (RunningServer.Served lun : running.luns()) {
            console().out().println("serving " + lun.iqn() + " lun " + lun.lun() + " "
                    + DeviceUri.withoutSecret(lun.uri()) + " "
                    + Size.format(lun.sizeBytes()).replace(" ", "") + " on " + portals);
        }
        console().out().flush();
    }

    /** SIGTERM and SIGINT end the JVM here, with status 0. */
    private Thread closeAtSignal(RunningServer running) {
        var hook = new Thread(() -> {
            int status = 0;
            try {
                running.close();
            } catch (StorageException | RuntimeException e) {
                console().remark(Errors.message(e));
                status = 1;
            }
            console().out().flush();
            console().err().flush();
            Runtime.getRuntime().halt(status); // a JVM ended by a signal would tell 143 instead
        }, "lunar-shutdown");
        Runtime.getRuntime().addShutdownHook(hook);
        return hook;
    }

    /** Until a signal comes, or this thread is interrupted. */
    private static void waitForEnd(Thread hook) {
        try {
            new CountDownLatch(1).await();
        } catch (InterruptedException e) {
            Runtime.getRuntime().removeShutdownHook(hook);
            Thread.currentThread().interrupt();
        }
    }
}
