package lunar.admin.http;

import io.helidon.http.Method;
import io.helidon.webserver.http.Handler;

/**
 * A route of the API.
 *
 * @param path with parameters in braces, as in OpenAPI
 */
record Route(Method method, String path, Handler handler) {}
