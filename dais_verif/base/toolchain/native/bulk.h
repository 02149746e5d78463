// What the bulk path, compiled once per machine, needs of a design.
#pragma once

class VerilatedContext;

class Model {
public:
    virtual ~Model() = default;
    virtual void eval() = 0;
};

// Returns a new instance of the design, whose scope is "bulk"; design.cpp has it.
Model* dais_verif_model(VerilatedContext* context);
