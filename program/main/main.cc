#include "program/program.h"

int main(int argc, char** argv) { return ringside::program::run(argc, argv); }
