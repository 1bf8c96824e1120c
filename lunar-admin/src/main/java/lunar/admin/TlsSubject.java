package lunar.admin;

import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import lunar.admin.report.Administered;
import lunar.admin.report.LunAnswer;
import lunar.admin.report.RefusedException;
import lunar.admin.tls.ServerTls;
import lunar.server.LunRequest;
import lunar.server.StorageServer;

/** A server whose problems include those of the certificate of its admin API. */
record TlsSubject(Administered subject, ServerTls tls) implements Administered {
    @Override
    public StorageServer server() { return subject.server(); }

    @Override
    public String version() { return subject.version(); }

    @Override
    public Optional<Path> configFile() { return subject.configFile(); }

    @Override
    public Optional<Path> stateDirectory() { return subject.stateDirectory(); }

    @Override
    public List<String> problems() {
        return Stream.concat(subject.problems().stream(), tls.problems().stream()).toList();
    }

    @Override
    public List<String> reload(boolean discard) throws RefusedException {
        return subject.reload(discard);
    }

    @Override
    public LunAnswer change(LunRequest request) throws RefusedException {
        return subject.change(request);
    }
}
