package lunar.osd.s3.http;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpHandler;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.time.InstantSource;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import lunar.block.LostWritesException;
import lunar.osd.s3.backend.ObjectBackend;
import lunar.osd.s3.bucket.Buckets;
import lunar.osd.s3.protocol.PercentEncoding;
import lunar.osd.s3.protocol.Query;
import lunar.osd.s3.protocol.RequestHead;
import lunar.osd.s3.protocol.S3Error;
import lunar.osd.s3.protocol.S3Exception;
import lunar.osd.s3.protocol.XmlWriter;
import lunar.osd.s3.signature.Authenticator;
import lunar.osd.s3.signature.Payload;

/** Handles requests: authenticates them, runs their operations, answers errors. Thread-safe. */
public final class S3Handler implements HttpHandler {
    private static final System.Logger LOG = System.getLogger("lunar.osd.s3");
    /** How much of the body of a refused request is read, so that its client gets to read the response. */
    private static final int DRAIN_BYTES = 16 << 20;
    private static final int DRAIN_BUFFER_BYTES = 64 << 10;

    private final Authenticator authenticator;
    private final RequestThreads threads;
    private final List<String> domains;
    private final BucketOperations buckets;
    private final ListOperations lists;
    private final ObjectOperations objects;
    private final CopyOperations copies;
    private final UploadOperations uploads;

    /** @param domains names of this server whose subdomains are buckets */
    public S3Handler(Buckets buckets, Authenticator authenticator, RequestThreads threads,
            List<String> domains, Limits limits, InstantSource clock) {
        this.authenticator = authenticator;
        this.threads = threads;
        this.domains = List.copyOf(domains);
        this.buckets = new BucketOperations(buckets, limits);
        lists = new ListOperations(buckets);
        objects = new ObjectOperations(buckets, limits, clock);
        copies = new CopyOperations(buckets, limits, clock);
        uploads = new UploadOperations(buckets, limits, clock);
    }

    @Override
    public void handle(HttpExchange exchange) {
        threads.endWait(); // for the head
        String requestId = UUID.randomUUID().toString();
        var response = new Response(exchange, threads);
        try (exchange) {
            try {
                prepare(response, requestId);
                run(exchange, response);
            } catch (S3Exception e) {
                refuse(exchange, response, requestId, e);
            } catch (ObjectBackend.QuotaException e) {
                LOG.log(System.Logger.Level.WARNING, "request " + requestId + " refused: "
                        + e.getMessage(), e);
                refuse(exchange, response, requestId, new S3Exception(S3Error.QUOTA_EXCEEDED));
            } catch (LostWritesException e) {
                LOG.log(System.Logger.Level.WARNING, "request " + requestId
                        + " failed, its client is to repeat it: " + e.getMessage());
                refuse(exchange, response, requestId,
                        new S3Exception(S3Error.SERVICE_UNAVAILABLE));
            } catch (ClientException e) {
                throw e;
            } catch (IOException | RuntimeException e) {
                LOG.log(System.Logger.Level.ERROR, "request " + requestId + " failed: "
                        + (e.getMessage() == null ? e : e.getMessage()), e);
                refuse(exchange, response, requestId, new S3Exception(S3Error.INTERNAL_ERROR));
            }
        } catch (IOException e) {
            LOG.log(System.Logger.Level.DEBUG, "connection closed during a request", e);
        } finally {
            threads.beginWait(); // for the rest of the body, which the server may read
        }
    }

    private static void prepare(Response response, String requestId) {
        response.header("x-amz-request-id", requestId).header("Server", "Lunar");
    }

    private void refuse(HttpExchange exchange, Response response, String requestId,
            S3Exception refusal) throws IOException {
        LOG.log(System.Logger.Level.DEBUG, () -> exchange.getRequestMethod() + " refused with "
                + refusal.error().code() + ", request " + requestId);
        if (response.isSent()) {
            return; // too late: the response is cut off, which the client sees by its length
        }
        drain(exchange);
        response.reset();
        prepare(response, requestId);
        response.document(refusal.error().status(), XmlWriter.plain("Error")
                .text("Code", refusal.error().code())
                .text("Message", Objects.requireNonNullElse(refusal.getMessage(), ""))
                .text("RequestId", requestId));
    }

    private void drain(HttpExchange exchange) throws IOException {
        String length = exchange.getRequestHeaders().getFirst("Content-Length");
        if (length != null && length.length() >= Integer.toString(DRAIN_BYTES).length()) {
            return; // a client that announces so much need not have sent it
        }
        InputStream in = exchange.getRequestBody();
        var buffer = new byte[DRAIN_BUFFER_BYTES];
        threads.beginWait(); // for all of it: the client may have no rights
        try {
            for (int left = DRAIN_BYTES; left > 0;) {
                int count = in.read(buffer, 0, buffer.length);
                if (count < 0) {
                    return;
                }
                left -= count;
            }
        } catch (IOException e) {
            throw new ClientException(e);
        } finally {
            threads.endWait();
        }
    }

    private void run(HttpExchange exchange, Response response) throws IOException, S3Exception {
        RequestHead head = head(exchange);
        Payload payload = authenticator.authenticate(head);
        ObjectHeaders.check(head);
        RequestTarget target = RequestTarget.of(head, domains);
        var request = new S3Request(head, target.bucket(), target.key(), new RequestBody(head,
                payload, new ClientInput(exchange.getRequestBody(), threads)));
        if (target.bucket().isEmpty()) {
            service(request, response);
        } else if (target.key().isEmpty()) {
            bucket(request, response);
        } else {
            object(request, response);
        }
    }

    private static RequestHead head(HttpExchange exchange) throws S3Exception {
        URI uri = exchange.getRequestURI();
        Map<String, List<String>> headers = new HashMap<>();
        exchange.getRequestHeaders().forEach(
                (name, values) -> headers.put(name.toLowerCase(Locale.ROOT), List.copyOf(values)));
        return new RequestHead(exchange.getRequestMethod(),
                PercentEncoding.decodePath(rawPath(uri)),
                Query.parse(Objects.requireNonNullElse(uri.getRawQuery(), "")), headers);
    }

    /** Returns the path as it was sent: {@link URI} takes what follows two slashes at its beginning for a host. */
    private static String rawPath(URI uri) {
        String path = Objects.requireNonNullElse(uri.getRawPath(), "");
        return uri.toString().startsWith("//")
                ? "//" + Objects.requireNonNullElse(uri.getRawAuthority(), "") + path
                : path;
    }

    private void service(S3Request request, Response response) throws IOException, S3Exception {
        if (!request.head().method().equals("GET")) {
            throw unknown(request);
        }
        buckets.list(request, response);
    }

    private void bucket(S3Request request, Response response) throws IOException, S3Exception {
        switch (request.head().method()) {
            case "GET" -> {
                if (request.has("location")) {
                    buckets.location(request, response);
                } else if (request.has("uploads")) {
                    uploads.list(request, response);
                } else if (request.parameter("list-type").equals("2")) {
                    lists.listV2(request, response);
                } else {
                    lists.listV1(request, response);
                }
            }
            case "HEAD" -> buckets.head(request, response);
            case "PUT" -> buckets.create(request, response);
            case "DELETE" -> buckets.delete(request, response);
            case "POST" -> {
                if (!request.has("delete")) {
                    throw unknown(request);
                }
                buckets.deleteObjects(request, response);
            }
            default -> throw unknown(request);
        }
    }

    private void object(S3Request request, Response response) throws IOException, S3Exception {
        boolean ofUpload = request.has("uploadId");
        switch (request.head().method()) {
            case "GET" -> {
                if (ofUpload) {
                    uploads.listParts(request, response);
                } else {
                    objects.get(request, response);
                }
            }
            case "HEAD" -> objects.get(request, response);
            case "PUT" -> put(request, response, ofUpload);
            case "DELETE" -> {
                if (ofUpload) {
                    uploads.abort(request, response);
                } else {
                    objects.delete(request, response);
                }
            }
            case "POST" -> {
                if (ofUpload) {
                    uploads.complete(request, response);
                } else if (request.has("uploads")) {
                    uploads.create(request, response);
                } else {
                    throw unknown(request);
                }
            }
            default -> throw unknown(request);
        }
    }

    private void put(S3Request request, Response response, boolean ofUpload)
            throws IOException, S3Exception {
        boolean copies = request.head().header("x-amz-copy-source").isPresent();
        if (ofUpload && copies) {
            uploads.copyPart(request, response);
        } else if (ofUpload) {
            uploads.putPart(request, response);
        } else if (copies) {
            this.copies.copy(request, response);
        } else {
            objects.put(request, response);
        }
    }

    private static S3Exception unknown(S3Request request) {
        return switch (request.head().method()) {
            case "GET", "HEAD", "PUT", "POST", "DELETE", "OPTIONS" -> new S3Exception(
                    S3Error.NOT_IMPLEMENTED);
            default -> new S3Exception(S3Error.METHOD_NOT_ALLOWED);
        };
    }
}
