/** A program that uses Lunar. */
module org.example.storage {
    requires lunar.starter;
    requires lunar.target;
    requires lunar.server;
}
